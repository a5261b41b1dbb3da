package users

import (
	_ "embed"
	"slices"
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the description of the service over HTTP.
func OpenAPI() []byte { return slices.Clone(openAPI) }
