package plan

import (
	"strings"
	"unicode"
)

// initialisms are written in capitals, as Go does.
func initialism(word string) bool {
	switch word {
	case "id", "url", "uri", "uid", "gid", "pid", "ip", "tcp", "udp", "http", "https", "json", "xml", "html", "sql", "cpu", "gpu", "ram", "rgb", "rgba", "uuid", "utf8", "ascii", "api", "os", "fps", "tls", "ttl":
		return true
	}
	return false
}

// Exported is a C name as an exported Go name: items_count is ItemsCount, and
// GameObject stays as it is. Empty where nothing of it can be in a Go name.
func Exported(c string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(c, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) || r == '_' }) {
		lower := strings.ToLower(word)
		switch {
		case initialism(lower):
			b.WriteString(strings.ToUpper(word))
		case word == strings.ToUpper(word) && len(word) > 1: // RUN_FAST
			b.WriteString(title(lower))
		default:
			b.WriteString(title(word))
		}
	}
	name := b.String()
	if name != "" && unicode.IsDigit(rune(name[0])) {
		name = "N" + name
	}
	return name
}

func title(word string) string {
	if word == "" {
		return ""
	}
	r := []rune(word)
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}

// value is the Go name of an enumerator: that of the enum, and what of the
// enumerator's name does not say that again.
func value(enum, name string) string {
	v := Exported(name)
	if rest, ok := strings.CutPrefix(v, enum); ok && rest != "" {
		v = rest
	}
	return enum + v
}
