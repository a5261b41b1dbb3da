package routes

import (
	"fmt"
	"strings"
	"testing"
)

// A few aliases of one large mapping stand for any number of fields: they are counted.
func TestMergedFieldsAreBounded(t *testing.T) {
	var large strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&large, "  x-%d: {}\n", i)
	}
	for aliases, want := range map[int]string{
		10:  "",
		600: fmt.Sprintf("api.yaml:2004:17: more than %d fields are merged; merge fewer, or write them out", mostMerged),
	} {
		src := "openapi: 3.0.0\nlarge: &a\n" + large.String() +
			"paths:\n  /a: {get: {}, <<: [*a" + strings.Repeat(" , *a", aliases-1) + " ]}\n"
		_, err := Read("api.yaml", []byte(src))
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%d aliases: %v, want %s", aliases, err, want)
		}
	}
}
