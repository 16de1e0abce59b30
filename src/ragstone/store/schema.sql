-- The tables of the database. Text columns without a type hold bytes if the text has lone surrogates,
-- which UTF-8 cannot represent.

-- Documents, chunks and words

CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE projects (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);

CREATE TABLE collections (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    settings TEXT NOT NULL,
    documents INTEGER NOT NULL DEFAULT 0,
    chunks INTEGER NOT NULL DEFAULT 0,
    updated_at REAL,
    UNIQUE (project, kind, name)
);

CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    uri NOT NULL,
    kind NOT NULL,
    language NOT NULL,
    title NOT NULL,
    metadata TEXT NOT NULL,
    marks TEXT,
    source NOT NULL,
    hash TEXT NOT NULL,
    content_hash NOT NULL,
    recipe NOT NULL,
    stamp TEXT,
    characters INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    gaps NOT NULL,
    added_at REAL NOT NULL,
    beside NOT NULL DEFAULT '',
    UNIQUE (collection, uri)
);

-- The text that an embedder gets, stored once per project; a chunk knows how long its header is.
CREATE TABLE texts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    hash BLOB NOT NULL,
    body NOT NULL,
    UNIQUE (project, hash)
);

CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection INTEGER NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    ord INTEGER NOT NULL,
    text_id INTEGER NOT NULL REFERENCES texts (id),
    header INTEGER NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    byte_start INTEGER NOT NULL,
    byte_end INTEGER NOT NULL,
    line_start INTEGER NOT NULL,
    line_end INTEGER NOT NULL,
    page INTEGER,
    page_label NOT NULL,
    kind NOT NULL,
    symbol NOT NULL,
    unit NOT NULL DEFAULT ''
);

CREATE INDEX chunks_of_document ON chunks (document, ord);

CREATE INDEX chunks_of_text ON chunks (text_id, collection);

CREATE INDEX chunks_of_collection ON chunks (collection, text_id);

-- The body comes first: FTS5 needs more room for terms of other columns.
CREATE VIRTUAL TABLE words USING fts5 (
    body, symbol, header, path, content='', tokenize="ascii tokenchars '_'"
);

CREATE VIRTUAL TABLE words_terms USING fts5vocab (words, row);

-- Fewer and larger segments while much is added: 20 to 30 % faster, for 8 MB of memory.
INSERT INTO words (words, rank) VALUES ('hashsize', 8388608);

-- Embedding spaces and vectors

CREATE TABLE spaces (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,
    spec TEXT NOT NULL,
    storage TEXT NOT NULL,
    width INTEGER,
    epoch TEXT NOT NULL,
    UNIQUE (project, fingerprint, storage)
);

CREATE TABLE collection_spaces (
    collection INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    space INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    state TEXT NOT NULL,
    PRIMARY KEY (collection, space)
) WITHOUT ROWID;

CREATE TABLE vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    text_id INTEGER NOT NULL REFERENCES texts (id) ON DELETE CASCADE,
    data BLOB NOT NULL,
    UNIQUE (text_id, space)
);

CREATE INDEX vectors_of_space ON vectors (space);

-- The graph of the code

CREATE TABLE graph_owners (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    owner NOT NULL,
    stamp NOT NULL,
    UNIQUE (collection, owner)
);

-- Data that an owner wants back when it runs again, such as the facts it read from a file.
CREATE TABLE graph_kept (
    owner INTEGER PRIMARY KEY REFERENCES graph_owners (id) ON DELETE CASCADE,
    data BLOB NOT NULL
);

CREATE TABLE graph_nodes (
    id INTEGER PRIMARY KEY,
    collection INTEGER NOT NULL,
    owner INTEGER NOT NULL REFERENCES graph_owners (id) ON DELETE CASCADE,
    key NOT NULL,
    kind NOT NULL,
    name NOT NULL,
    uri NOT NULL,
    line INTEGER NOT NULL,
    line_end INTEGER NOT NULL,
    signature NOT NULL,
    doc NOT NULL,
    language NOT NULL,
    framework NOT NULL,
    attributes TEXT NOT NULL,
    UNIQUE (owner, key)
);

CREATE INDEX graph_nodes_by_key ON graph_nodes (collection, key);

CREATE INDEX graph_nodes_by_kind ON graph_nodes (collection, kind, key);

CREATE INDEX graph_nodes_by_uri ON graph_nodes (collection, uri, key);

CREATE TABLE graph_links (
    id INTEGER PRIMARY KEY,
    collection INTEGER NOT NULL,
    owner INTEGER NOT NULL REFERENCES graph_owners (id) ON DELETE CASCADE,
    kind NOT NULL,
    source NOT NULL,
    target NOT NULL,
    uri NOT NULL,
    line INTEGER NOT NULL,
    confidence TEXT NOT NULL,
    conditional INTEGER NOT NULL,
    ord INTEGER NOT NULL,
    attributes TEXT NOT NULL
);

CREATE INDEX graph_links_of_owner ON graph_links (owner);

CREATE INDEX graph_links_from ON graph_links (collection, source, kind, ord);

CREATE INDEX graph_links_to ON graph_links (collection, target, kind, ord);

-- `folded` is the name in lower case by the rules of Unicode.
CREATE TABLE graph_aliases (
    id INTEGER PRIMARY KEY,
    collection INTEGER NOT NULL,
    owner INTEGER NOT NULL REFERENCES graph_owners (id) ON DELETE CASCADE,
    folded NOT NULL,
    name NOT NULL,
    key NOT NULL,
    kind NOT NULL,
    uri NOT NULL
);

CREATE INDEX graph_aliases_of_owner ON graph_aliases (owner);

CREATE INDEX graph_aliases_by_name ON graph_aliases (collection, folded);

CREATE TABLE graph_unresolved (
    id INTEGER PRIMARY KEY,
    collection INTEGER NOT NULL,
    owner INTEGER NOT NULL REFERENCES graph_owners (id) ON DELETE CASCADE,
    kind NOT NULL,
    source NOT NULL,
    name NOT NULL,
    receiver NOT NULL,
    uri NOT NULL,
    line INTEGER NOT NULL,
    reason NOT NULL
);

CREATE INDEX graph_unresolved_of_owner ON graph_unresolved (owner);

CREATE INDEX graph_unresolved_by_name ON graph_unresolved (collection, name);

CREATE INDEX graph_unresolved_by_source ON graph_unresolved (collection, source);

-- Access

-- A key is known by its id; the digest is an HMAC of its secret.
CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    digest BLOB NOT NULL,
    created_at REAL NOT NULL,
    expires_at REAL,
    revoked_at REAL
) WITHOUT ROWID;

CREATE TABLE project_plans (
    project INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
    name TEXT NOT NULL
);

-- State of collections and sessions

-- The last write to a collection, or to any collection of a kind if the name is empty; see `catalog.mark_changed`.
CREATE TABLE generations (
    project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (project, kind, name)
) WITHOUT ROWID;

CREATE TABLE collection_state (
    collection INTEGER PRIMARY KEY REFERENCES collections (id) ON DELETE CASCADE,
    synced_at REAL,
    follows_folder INTEGER NOT NULL,
    fingerprint TEXT,
    root,
    relative_root,
    needs_vectors INTEGER NOT NULL,
    graph_seconds REAL,
    graph_remarks TEXT NOT NULL
);

CREATE TABLE unread_recipes (
    collection INTEGER PRIMARY KEY REFERENCES collections (id) ON DELETE CASCADE,
    recipe NOT NULL
);

CREATE TABLE unread_files (
    collection INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    uri NOT NULL,
    stamp TEXT NOT NULL,
    reason NOT NULL,
    failed INTEGER NOT NULL,
    PRIMARY KEY (collection, uri)
) WITHOUT ROWID;

CREATE TABLE session_state (
    collection INTEGER PRIMARY KEY REFERENCES collections (id) ON DELETE CASCADE,
    next_turn INTEGER,
    version TEXT
);

CREATE TABLE shown_passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    session NOT NULL,
    mark NOT NULL,
    UNIQUE (project, session, mark)
);
