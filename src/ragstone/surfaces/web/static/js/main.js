// Loaded by every page: each module sets up one behaviour of the whole page.
import "./csrf.js";
import "./theme.js";
import "./keyboard.js";
import "./toast.js";
import "./copy.js";
import "./confirm.js";
import "./session.js";
import "./pictures.js";
