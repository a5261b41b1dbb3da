package plan

import (
	"strings"
	"unicode"
)

// isInitialism reports whether a word, in lower case, is written in capitals in Go names, as ID is.
func isInitialism(word string) bool {
	switch word {
	case "id", "url", "uri", "uid", "gid", "pid", "ip", "tcp", "udp", "http", "https", "json", "xml", "html", "sql", "cpu", "gpu", "ram", "rgb", "rgba", "uuid", "utf8", "ascii", "api", "os", "fps", "tls", "ttl":
		return true
	}
	return false
}

// Exported returns the exported Go name for a C name: ItemsCount for items_count, GameObject for
// GameObject. It returns "" if Go can use no character of the C name.
func Exported(c string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(c, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		lower := strings.ToLower(word)
		switch {
		case isInitialism(lower):
			b.WriteString(strings.ToUpper(word))
		case word == strings.ToUpper(word) && len(word) > 1: // as in RUN_FAST
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

// enumeratorName returns the Go name of a value of an enum, with the enum's name as prefix. For the enum
// Kind, both BOSS and KIND_BOSS become KindBoss.
func enumeratorName(enum, name string) string {
	v := Exported(name)
	if rest, ok := strings.CutPrefix(v, enum); ok && rest != "" {
		v = rest
	}
	return enum + v
}
