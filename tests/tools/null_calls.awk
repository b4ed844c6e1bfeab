# null_calls.awk -- writes a C file with a call of every function of the public headers that takes a
# pointer, in which any one of its pointers, or all of them, can be NULL (tests/guest/null_calls.h).
#
#     awk -f null_calls.awk tests/guest/null_values.h PREPROCESSED
#
# PREPROCESSED is what `cc -E` makes of ridgepoint.h: what stands between the marks of tensor/api.h
# counts. What the other arguments are, the first file says: `Layer *value_Layer(void)` is given for
# each Layer *, value_char_path for a char * called path, value_each_Tensor for a Tensor **,
# value_slots_Tensor for a Tensor ***, plain_Shape for a Shape. Anything else is zero, a count is 1;
# a pointer leads to zeros, or is NULL where only the library can make what it leads to.
FILENAME == ARGV[1] {
    while (match($0, /(value|plain)_[A-Za-z0-9_]+/)) {
        given[substr($0, RSTART, RLENGTH)] = 1
        $0 = substr($0, RSTART + RLENGTH)
    }
    next
}
/^#pragma GCC visibility push\(default\)/ { inside = 1; next }
/^#pragma GCC visibility pop/ { inside = 0; next }
/^#/ || !inside { next }
{ text = text " " $0 }

# The base of a type: "const struct Op *" is "Op *".
function bare(type) {
    gsub(/\*/, " * ", type)
    gsub(/(^| )(const|struct|enum|restrict)( |$)/, " ", type)
    gsub(/(^| )(const|struct|enum|restrict)( |$)/, " ", type)
    gsub(/[ \t]+/, " ", type)
    gsub(/ *\*/, "*", type)
    sub(/^ /, "", type)
    sub(/ $/, "", type)
    return type
}

# What is given for a parameter that is no NULL.
function value(type, name, base, stars) {
    base = bare(type)
    stars = gsub(/\*/, "", base)
    sub(/ /, "_", base)
    if (stars == 0) {
        if (("plain_" base) in given) return "plain_" base "()"
        if (base in functions) return "NULL"
        if (base in structs) return "(" type "){0}"
        return "(" type ")" (base in enums ? 0 : 1)
    }
    if (stars > 2) base = "slots_" base
    else if (stars > 1) base = "each_" base
    if (("value_" base "_" name) in given) return "(" type ")value_" base "_" name "()"
    if (("value_" base) in given) return "(" type ")value_" base "()"
    if (base == "void" || stars > 1) return "value_zeros(sizeof(void *))"
    if (base !~ /^[A-Z]/ || base in structs || base in enums)
        return "value_zeros(sizeof(" base "))"
    return "NULL"
}

# One parameter, as the text says it: sets param_type, param_name, is_pointer.
function read_parameter(p) {
    gsub(/[ \t]+/, " ", p)
    sub(/^ /, "", p)
    sub(/ $/, "", p)
    is_pointer = 0
    if (match(p, /\(\*[a-z_]+\)/)) { # a function
        param_name = substr(p, RSTART + 2, RLENGTH - 3)
        param_type = substr(p, 1, RSTART + 1) substr(p, RSTART + RLENGTH - 1)
        param_value = ("value_" param_name) in given ? "value_" param_name : "NULL"
        is_pointer = 1
        return
    }
    array = sub(/ ?\[[^]]*\]$/, "", p)
    match(p, /[A-Za-z_0-9]+$/)
    param_name = substr(p, RSTART)
    param_type = substr(p, 1, RSTART - 1)
    sub(/ $/, "", param_type)
    if (array) param_type = param_type (param_type ~ /\*$/ ? "" : " ") "*"
    is_pointer = param_type ~ /\*/ || bare(param_type) in functions
    param_value = value(param_type, param_name)
}

function write_call(result, name, parameters, n, i, depth, c, p, list, pointers, names) {
    depth = n = 0
    p = ""
    for (i = 1; i <= length(parameters) + 1; i++) {
        c = i <= length(parameters) ? substr(parameters, i, 1) : ","
        if (c == "(") depth++
        if (c == ")") depth--
        if (c != "," || depth > 0) {
            p = p c
            continue
        }
        if (p !~ /^ *(void|\.\.\.)? *$/) {
            read_parameter(p)
            list = list (list == "" ? "" : ", ")
            if (is_pointer) {
                list = list "OR_NULL(" pointers + 0 ", " param_type ", " param_value ")"
                names = names "\"" param_name "\", "
                pointers++
            } else list = list param_value
        }
        p = ""
    }
    if (!pointers) return
    printf "static bool call_%s(int absent) {\n", name
    if (result ~ /(^| )void$/) printf "    %s(%s);\n    return true;\n}\n", name, list
    else {
        printf "    %s answer = %s(%s);\n", result, name, list
        printf "    return %s(%s);\n}\n", result ~ /(^| )Status$/ ? "value_is_said" : "value_is_read",
            result ~ /(^| )Status$/ ? "answer" : "&answer, sizeof answer"
    }
    table = table "    {\"" name "\", {" names "NULL}, call_" name "},\n"
}

END {
    while (match(text, /(struct|enum) [A-Za-z0-9]+ *\{/)) { # what is known from inside
        split(substr(text, RSTART, RLENGTH), words, / *[ {]/)
        if (words[1] == "enum") enums[words[2]] = 1
        else structs[words[2]] = 1
        text = substr(text, 1, RSTART + RLENGTH - 2) "\001" substr(text, RSTART + RLENGTH)
    }
    gsub(/\001/, "{", text)
    while (gsub(/\{[^{}]*\}/, "@", text)) # bodies, from the inside out
        continue
    gsub(/\) *@/, ");", text) # of a function
    count = split(text, statements, ";")
    for (i = 1; i <= count; i++)
        if (match(statements[i], /typedef .*\(\*[A-Za-z]+\)/)) {
            s = substr(statements[i], RSTART, RLENGTH - 1)
            sub(/.*\(\*/, "", s)
            functions[s] = 1
        }
    print "// made by tests/tools/null_calls.awk: a call of each function of ridgepoint.h"
    print "#include \"tests/guest/null_values.h\"\n"
    print "#pragma GCC diagnostic ignored \"-Wformat-security\" // a format is a value like others\n"
    for (i = 1; i <= count; i++) {
        s = statements[i]
        if (s ~ /(^| )typedef / || s !~ /\(/) continue
        gsub(/__attribute__ *\(\(.*\)\)/, "", s)
        gsub(/(^| )(static|inline|extern|__inline__|_Noreturn)( |$)/, " ", s)
        gsub(/(^| )(static|inline|extern|__inline__|_Noreturn)( |$)/, " ", s)
        sub(/[ \t]+$/, "", s)
        open = index(s, "(")
        head = substr(s, 1, open - 1)
        match(head, /[A-Za-z_0-9]+ *$/)
        name = substr(head, RSTART)
        sub(/ *$/, "", name)
        result = substr(head, 1, RSTART - 1)
        gsub(/[ \t]+$/, "", result)
        write_call(result, name, substr(s, open + 1, length(s) - open - 1))
    }
    printf "\nconst NullCall null_calls[] = {\n%s    {NULL, {NULL}, NULL},\n};\n", table
}
