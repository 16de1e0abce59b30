"""Names of functions that belong to a language itself; calls of these are not reported as unresolved."""

from __future__ import annotations

import re
from typing import Final

BUILT_IN_FUNCTIONS: Final = {
    "php": re.compile(
        r"(?:array|str|mb|is|json|preg|ctype|date|file|func|iterator|hash|curl|openssl|random|spl|stream|ob|url|var|"
        r"get|set|class|method|property|function|iconv|gz|imagecreate|image|number|html|http|ini|gmp|bc|sodium|error|"
        r"call_user|register|session|parse|filter|mt|posix|pcntl|sys|debug|array)_\w+|"
        r"in_array|count|sizeof|implode|explode|join|trim|[lr]trim|sprintf|v?s?printf|print_r|strlen|str\w+|substr\w*|"
        r"ucfirst|ucwords|lcfirst|nl2br|abs|ceil|floor|round|max|min|sqrt|pow|rand|log|exp|intdiv|fmod|compact|extract|"
        r"range|list|each|key|current|next|prev|reset|end|[akru]*sort|shuffle|usort|uasort|uksort|isset|unset|empty|"
        r"define|defined|constant|die|exit|eval|time|microtime|mktime|date|checkdate|sleep|usleep|hrtime|uniqid|md5|"
        r"sha1|crc32|base64_\w+|bin2hex|hex2bin|serialize|unserialize|settype|gettype|intval|floatval|strval|boolval|"
        r"fopen|fclose|fread|fwrite|fputs|fgets|feof|fseek|unlink|mkdir|rmdir|rename|copy|basename|dirname|pathinfo|"
        r"realpath|glob|touch|chmod|readfile|opendir|readdir|scandir|tempnam|tmpfile|addslashes|stripslashes|"
        r"htmlspecialchars\w*|urlencode|urldecode|rawurlencode|rawurldecode|http_build_query|ord|chr|dechex|hexdec|"
        r"usleep|assert|trigger_error|version_compare|php\w+|extension_loaded|memory_get_usage|gc_collect_cycles|"
        r"iterator_to_array|levenshtein|similar_text|soundex|metaphone|array|header|headers_sent|setcookie|pack|unpack",
        re.IGNORECASE,
    ),
    "script": re.compile(
        r"require|import|parseInt|parseFloat|isNaN|isFinite|setTimeout|setInterval|clearTimeout|clearInterval|fetch|"
        r"String|Number|Boolean|Symbol|BigInt|Array|Object|Date|RegExp|Error|Promise|encodeURI\w*|decodeURI\w*|super|"
        r"describe|it|test|expect|beforeEach|afterEach|beforeAll|afterAll|structuredClone|queueMicrotask"
    ),
    "go": re.compile(
        r"append|cap|clear|close|complex|copy|delete|imag|len|make|max|min|new|panic|print|println|real|recover|"
        r"u?int(?:8|16|32|64)?|float(?:32|64)|string|byte|rune|bool|error|uintptr|any|complex(?:64|128)"
    ),
    "rust": re.compile(
        r"Some|Ok|Err|None|Box|vec|format|e?println|e?print|panic|(?:debug_)?assert\w*|write\w*|drop|matches|unreachable|todo"
    ),
    "swift": re.compile(
        r"print|fatalError|precondition\w*|assert\w*|String|Int|Double|Bool|Array|Dictionary|Set|Data|min|max"
    ),
    "jvm": re.compile(
        r"println|print|listOf|mutableListOf|mapOf|mutableMapOf|setOf|arrayOf|require\w*|check\w*|error|lazy|super|this"
    ),
    "ruby": re.compile(
        r"require\w*|puts|p|print|raise|attr_\w+|include|extend|private\w*|protected|public|lambda|proc|loop|format|"
        r"sprintf|rand|sleep|catch|throw|block_given\?|freeze|super"
    ),
    "csharp": re.compile(r"nameof|typeof|sizeof|default|base|this"),
    "c": re.compile(
        r"sizeof|defined|alignof|offsetof|static_cast|dynamic_cast|reinterpret_cast|const_cast|decltype|typeid"
    ),
}
"""By language family. A function of the project with the same name is found first."""
