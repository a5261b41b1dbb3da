package yamlfile

import "strings"

// MaxOpenAPI is the largest OpenAPI document that is read. The largest that are
// published have some ten megabytes.
const MaxOpenAPI = 32 << 20

// OpenAPI is the format of an OpenAPI document, which programs write too.
func OpenAPI() Format {
	return Format{
		Noun: "description", Begin: "it is for an OpenAPI document, or a list of routes such as GET /users/{id}",
		MaxBytes: MaxOpenAPI, MaxDepth: 1000,
	}
}

// MaxRef is the longest reference of an OpenAPI document that is followed, in bytes.
const MaxRef = 4096

var unescaped = strings.NewReplacer("~1", "/", "~0", "~")

// PointerKey is the key that a part of a JSON pointer names (RFC 6901, section 4).
func PointerKey(part string) string { return unescaped.Replace(part) }
