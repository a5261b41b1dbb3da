package plan

import (
	"strings"
	"unicode"
)

// isInitialism reports whether Go writes the word in capitals.
func isInitialism(word string) bool {
	switch word {
	case "id", "url", "uri", "uid", "gid", "pid", "ip", "tcp", "udp", "http", "https", "json", "xml", "html", "sql", "cpu", "gpu", "ram", "rgb", "rgba", "uuid", "utf8", "ascii", "api", "os", "fps", "tls", "ttl":
		return true
	}
	return false
}

// Exported returns a C name as an exported Go name: items_count is ItemsCount, and GameObject stays
// unchanged. It returns "" if no part of it can be in a Go name.
func Exported(c string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(c, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) || r == '_' }) {
		lower := strings.ToLower(word)
		switch {
		case isInitialism(lower):
			b.WriteString(strings.ToUpper(word))
		case word == strings.ToUpper(word) && len(word) > 1: // RUN_FAST
			b.WriteString(capitalize(lower))
		default:
			b.WriteString(capitalize(word))
		}
	}
	name := b.String()
	if name != "" && unicode.IsDigit(rune(name[0])) {
		name = "N" + name
	}
	return name
}

func capitalize(word string) string {
	if word == "" {
		return ""
	}
	r := []rune(word)
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}

// enumeratorName returns the Go name of an enumerator: that of the enum, and the part of the
// enumerator's name that does not repeat it.
func enumeratorName(enum, name string) string {
	v := Exported(name)
	if rest, ok := strings.CutPrefix(v, enum); ok && rest != "" {
		v = rest
	}
	return enum + v
}
