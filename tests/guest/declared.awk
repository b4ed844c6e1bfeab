# declared.awk -- the names of all functions and variables that public headers declare, from the
# preprocessed text of ridgepoint.h: what stands between the marks of tensor/api.h. Inline
# functions, types and macros have no name to link with.
/^#pragma GCC visibility push\(default\)/ { inside = 1; next }
/^#pragma GCC visibility pop/ { inside = 0; next }
/^#/ || !inside { next }
{ text = text " " $0 }
END {
    while (gsub(/\{[^{}]*\}/, "@", text)) # bodies, from the inside out
        continue
    gsub(/\) *@/, ");", text) # of a function
    count = split(text, statements, ";")
    for (i = 1; i <= count; i++) {
        s = statements[i]
        if (s ~ /(^| )(typedef|static) /) continue
        gsub(/__attribute__ *\(\(.*\)\)/, "", s)
        if (s !~ /\(/ && s !~ /(^| )extern /) continue # a struct or an enum
        sub(/[[(].*/, "", s)
        sub(/[ \t]+$/, "", s)
        sub(/.*[ \t*]/, "", s)
        if (s != "") print s
    }
}
