# pages.awk -- makes C of exNN.md (their form is in ../INSTRUCTOR.md): a row for each hint and each page.
function close_row(    row) {
    if (name != "") {
        row = "    {\"" number "\", \"" name "\", " told "," text "},\n"
        if (section == "# hints") hints = hints row
        else pages = pages row
    }
    name = text = blank = ""
    told = "NULL"
}
{ gsub(/["\\?]/, "\\\\&") }
FNR == 1 {
    close_row()
    section = ""
    number = FILENAME
    sub(/^.*\/ex/, "", number)
    sub(/[.]md$/, "", number)
    next
}
/^# / { close_row(); section = $0; next }
/^## / { close_row(); name = substr($0, 4); next }
name == "" { next }
/^> / && text == "" { told = "\"" substr($0, 3) "\""; next }
/^$/ { if (text != "") blank = blank "\n     \"\\n\""; next }
{ text = text blank "\n     \"" $0 "\\n\""; blank = "" }
END {
    close_row()
    print "// Made by make of exercises/pages/*.md."
    print "#include \"exercises/lab/pages.h\"\n\n#include <stddef.h>"
    printf "\nconst ExplainPage explain_pages[] = {\n"
    printf "%s", pages
    print "};"
    print "const int explain_page_count = (int)(sizeof explain_pages / sizeof explain_pages[0]);"
    printf "\nconst ExplainPage hint_pages[] = {\n"
    printf "%s", hints
    print "};"
    print "const int hint_page_count = (int)(sizeof hint_pages / sizeof hint_pages[0]);"
}
