package yamlfile

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
