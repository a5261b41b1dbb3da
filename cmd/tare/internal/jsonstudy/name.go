package jsonstudy

import (
	"fmt"
	"strings"
	"unicode"
)

// isInitialism reports whether Go writes the word in capitals, like ID in UserID.
func isInitialism(word string) bool {
	switch strings.ToUpper(word) {
	case "API", "CPU", "HTML", "HTTP", "HTTPS", "ID", "IP", "JSON", "OS", "SQL", "TLS", "UI", "URI", "URL", "UTC", "UUID", "XML":
		return true
	}
	return false
}

// exportedName returns CreatedAt for created_at.
func exportedName(key string) string {
	words := strings.FieldsFunc(key, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	var b strings.Builder
	for _, w := range words {
		if isInitialism(w) {
			b.WriteString(strings.ToUpper(w))
			continue
		}
		r := []rune(w)
		b.WriteString(string(unicode.ToUpper(r[0])) + string(r[1:]))
	}
	name := b.String()
	const maxLength = 60
	if r := []rune(name); len(r) > maxLength {
		name = string(r[:maxLength])
	}
	if name == "" {
		return "Field"
	}
	if first := []rune(name)[0]; !unicode.IsUpper(first) { // a digit, or a letter that has no capital
		return "X" + name
	}
	return name
}

// singularName returns Order for a list of Orders, and Item for a document that is a list.
func singularName(name string, depth int) string {
	switch {
	case depth == 0:
		return "Item"
	case strings.HasSuffix(name, "ies") && len(name) > 4:
		return strings.TrimSuffix(name, "ies") + "y"
	case strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss") && len(name) > 3:
		return strings.TrimSuffix(name, "s")
	}
	return name + "Item"
}

// pickUnique returns name, or name with a number, and marks it as taken.
func pickUnique(name string, taken map[string]bool) string {
	out := name
	for n := 2; taken[out]; n++ {
		out = fmt.Sprintf("%s%d", name, n)
	}
	taken[out] = true
	return out
}
