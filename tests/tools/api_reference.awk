# api_reference.awk -- a page of Markdown from the headers of one room, in the order given: of each
# header its opening comment, then every declaration with the comment that belongs to it, and at the
# end all names. It reads the style of this project's headers: what is declared begins in column 0,
# a comment of // stands before it or behind it, and a blank line ends what a comment speaks of.
#
#     awk -v room=tensor -f api_reference.awk tensor/context.h tensor/op.h ...

# ---- Markdown ----------------------------------------------------------------------------------
# What Markdown would read as its own gets a backslash, but for what stands between `backticks`.
function escaped(text, pieces, n, i, result) {
    n = split(text, pieces, "`")
    for (i = 1; i <= n; i++) {
        if (i % 2 == 1 || n % 2 == 0) gsub(/[\\*_<>|~&\[\]]/, "\\\\&", pieces[i])
        result = result (i > 1 ? (n % 2 == 0 ? "\\`" : "`") : "") pieces[i]
    }
    sub(/^[-+#]/, "\\\\&", result)
    return result
}

function anchor(heading) { # as GitHub makes it
    heading = tolower(heading)
    gsub(/[^a-z0-9 _-]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
}

# A comment as paragraphs; what is indented in it is code.
function print_prose(comment, lines, n, i, line, paragraph, code) {
    n = split(comment, lines, "\n")
    paragraph = ""
    code = 0
    for (i = 1; i <= n + 1; i++) {
        line = i <= n ? lines[i] : ""
        sub(/^\/\/ ?/, "", line)
        if (line ~ /^    / || (code && line == "" && i < n && lines[i + 1] ~ /^\/\/     /)) {
            if (paragraph != "") printf "%s\n\n", escaped(paragraph)
            paragraph = ""
            if (!code) print "```c"
            code = 1
            print substr(line, 5)
            continue
        }
        if (code) print "```\n"
        code = 0
        if (line != "") paragraph = paragraph (paragraph == "" ? "" : "\n") line
        else if (paragraph != "") {
            printf "%s\n\n", escaped(paragraph)
            paragraph = ""
        }
    }
}

function print_item() { # a comment and what it speaks of
    if (item_comment != "") print_prose(item_comment)
    if (item_code != "") printf "```c\n%s```\n\n", item_code
    item_comment = item_code = ""
}

# ---- C -----------------------------------------------------------------------------------------
function without_comments(line) {
    gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    gsub(/\/\*[^*]*\*\//, "", line)
    sub(/\/\/.*/, "", line)
    return line
}

function count(line, what, n) { # how many characters of the set
    n = gsub(what, "", line)
    return n
}

function add_name(name) {
    if (name !~ /^[A-Za-z_][A-Za-z_0-9]*$/ || (name in where)) return
    where[name] = FILENAME
    names[++n_names] = name
}

# The name that a declaration brings: of a function, a type, a variable, constants.
function name_of(text, parts, n, i, tag) {
    while (match(text, /__attribute__ *\(\(([^()]|\([^()]*\))*\)\)/))
        text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
    if (text ~ /^(extern )?[A-Z][A-Z_0-9]*\(.*\)$/) return # the call of a list
    if (text ~ /^typedef/) {
        if (match(text, /^typedef [^{(]*\(\*[A-Za-z_0-9]+\)/)) { # of a function's type
            tag = substr(text, 1, RLENGTH - 1)
            sub(/.*\(\*/, "", tag)
        } else {
            tag = text
            sub(/.*\}/, "", tag)
            sub(/ *(\[[^]]*\])* *;.*$/, "", tag)
            sub(/.*[^A-Za-z_0-9]/, "", tag)
        }
        add_name(tag)
    } else if (text ~ /^(struct|union) [A-Za-z_0-9]+ *\{/) {
        split(text, parts, /[ {]+/)
        add_name(parts[2])
    }
    if (text ~ /^(typedef )?enum/ && match(text, /\{.*\}/)) {
        n = split(substr(text, RSTART + 1, RLENGTH - 2), parts, ",")
        for (i = 1; i <= n; i++) {
            gsub(/^ +| *=.*$| +$/, "", parts[i])
            add_name(parts[i])
        }
    } else if (text !~ /^(typedef|struct [A-Za-z_0-9]+ *[{;]|union [A-Za-z_0-9]+ *[{;])/) {
        tag = text
        if (tag ~ /^[^(]*\(/) sub(/ *\(.*$/, "", tag)
        else sub(/ *(\[[^]]*\])* *(=.*)?;.*$/, "", tag)
        sub(/.*[^A-Za-z_0-9]/, "", tag)
        add_name(tag)
    }
}

# A declaration is whole: keep it as it stands, but of a function's body and a long macro nothing.
function end_declaration(flat, body) {
    flat = declaration_flat
    gsub(/[ \t]+/, " ", flat)
    sub(/^ /, "", flat)
    if (is_macro) {
        name = flat
        sub(/^# *define */, "", name)
        sub(/[^A-Za-z_0-9].*$/, "", name)
        if (!(name in forgotten) && !(conditional && (name in where))) {
            if (conditional || (declaration ~ /\n./ && name !~ /_LIST$/)) {
                match(declaration, /^# *define *[A-Za-z_0-9]+(\([^)]*\))?/)
                declaration = substr(declaration, 1, RLENGTH) " ...\n"
            }
            add_name(name)
            item_code = item_code declaration
        }
    } else {
        if (body_at > 0) { # the text before the first brace
            declaration = substr(declaration, 1, body_at - 1)
            sub(/[ \n]+$/, "", declaration)
            declaration = declaration ";\n"
            sub(/ *\{.*$/, ";", flat)
        }
        name_of(flat)
        item_code = item_code declaration
    }
    declaration = declaration_flat = ""
    body_at = depth = is_macro = 0
}

function add_line(line, bare, before) {
    bare = without_comments(line)
    before = substr(bare, 1, index(bare, "{"))
    # A function's body begins where a brace opens and this is no type and no list of values.
    if (!is_macro && !body_at && before != "" &&
        depth + count(before, "[(]") - count(before, "[)]") == 0 &&
        (declaration_flat bare) !~ /^ *(typedef|struct [A-Za-z_0-9]* *\{|union|enum)/ &&
        (declaration_flat bare) !~ /=[^(]*\{/)
        body_at = length(declaration) + index(bare, "{")
    declaration = declaration line "\n"
    declaration_flat = declaration_flat " " bare
    depth += count(bare, "[({]") - count(bare, "[)}]")
    if (is_macro) {
        if (line !~ /\\$/) end_declaration()
        return
    }
    sub(/ +$/, "", bare)
    if (depth == 0 && (bare ~ /;$/ || (body_at && bare ~ /\}$/) ||
                       bare ~ /^[A-Z][A-Z_0-9]*\(.*\)$/)) end_declaration()
}

# ---- a header ----------------------------------------------------------------------------------
function end_header() {
    if (current == "") return
    print_item()
    if (declaration != "") {
        print "api_reference: " current ": a declaration does not end: " \
            substr(declaration, 1, 60) >"/dev/stderr"
        failed = 1
    }
}

# Macros that the header itself undefines are scaffolding; so is its guard.
function read_ahead(file, line, parts) {
    split("", forgotten)
    while ((getline line <file) > 0)
        if (line ~ /^# *undef /) {
            split(line, parts, " ")
            forgotten[parts[2]] = 1
        } else if (line ~ /^# *define [A-Z_0-9]+_H$/) {
            split(line, parts, " ")
            forgotten[parts[2]] = 1
        }
    close(file)
}

BEGIN {
    printf "# The functions and types of %s/\n\n", room
    print "Made from the headers by `make reference`. Comments stand above what they speak of.\n"
    for (i = 1; i < ARGC; i++) {
        getline line <ARGV[i]
        sub(/^\/\/ [^ ]+ -- /, "", line)
        if (line ~ /[^.]$/) { # to the end of its sentence, or of the line after it
            if ((getline rest <ARGV[i]) > 0 && rest ~ /^\/\/ [^ ]/) line = line " " substr(rest, 4)
        }
        close(ARGV[i])
        if (match(line, /[a-z)]\.( |$)/)) line = substr(line, 1, RSTART)
        printf "* [%s](#%s): %s\n", ARGV[i], anchor(ARGV[i]), escaped(line)
    }
    print "* [every name](#every-name)\n"
}

FNR == 1 {
    end_header()
    current = FILENAME
    read_ahead(FILENAME)
    printf "## %s\n\n", FILENAME
    opening = 1
    item_comment = item_code = declaration = declaration_flat = ""
    body_at = depth = is_macro = in_cpp = conditional = 0
}

{ sub(/[ \t\r]+$/, "") }

/^ *RIDGEPOINT_API_(BEGIN|END)/ { next } # what marks them as API, and declares nothing

# What only C++ sees is no declaration.
/^# *if(def)? .*__cplusplus/ && !/!/ && !in_cpp { in_cpp = 1; next }
in_cpp {
    if (/^# *if/) in_cpp++
    if (/^# *endif/) in_cpp--
    if (/^# *else/ && in_cpp == 1) { in_cpp = 0; conditional++ } # C's part
    next
}

opening {
    if (/^\/\//) {
        if (FNR == 1) { # "op.h -- what an op is" begins a sentence
            sub(/^\/\/ [^ ]+ -- /, "")
            $0 = "// " toupper(substr($0, 1, 1)) substr($0, 2)
        }
        item_comment = item_comment (item_comment == "" ? "" : "\n") $0
        next
    }
    opening = 0
    print_item()
}

declaration != "" && !is_macro && /^#/ { # what makes up a list inside a type
    while (/\\$/ && (getline) > 0) {}
    next
}
declaration != "" { sub(/ +\\$/, " \\"); add_line($0); next }

/^# *define / { is_macro = 1; sub(/ +\\$/, " \\"); add_line($0); next }
/^#/ {
    if (/^# *if/ && !/^# *ifndef [A-Z_0-9]+_H$/) conditional++
    if (/^# *endif/ && conditional) conditional--
    while (/\\$/ && (getline) > 0) {}
    next
}

/^\/\/ ----/ { # a section
    print_item()
    sub(/^\/\/ -+ */, "")
    sub(/ *-*$/, "")
    if ($0 != "") printf "### %s\n\n", toupper(substr($0, 1, 1)) substr($0, 2)
    next
}
/^\/\// {
    if (item_code != "") print_item()
    item_comment = item_comment (item_comment == "" ? "" : "\n") $0
    next
}
/^[ \t]+\/\// { item_code = item_code $0 "\n"; next } # goes on with the comment behind a line
/^$/ { print_item(); next }
{ add_line($0) }

END {
    end_header()
    print "## Every name\n"
    for (i = 2; i <= n_names; i++) # sorted; there are some hundreds
        for (k = i; k > 1 && names[k] < names[k - 1]; k--) {
            name = names[k]
            names[k] = names[k - 1]
            names[k - 1] = name
        }
    for (i = 1; i <= n_names; i++) {
        header = where[names[i]]
        link = header
        sub(/.*\//, "", link)
        printf "`%s` [%s](#%s)%s\n", names[i], link, anchor(header), i < n_names ? "," : ""
    }
    exit failed
}
