package studyfile

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/format"
)

// takeMemory returns a Take for an amount of memory from 0 to [tare.MaxHeap] bytes: an integer, or a text
// with a unit. After an error dst is unchanged.
func (r *reader) takeMemory(dst *int64) yamlfile.Take {
	return func(n ast.Node, path string) {
		var bytes float64
		switch n := n.(type) {
		case *ast.IntegerNode:
			r.Number(&bytes)(n, path)
		case *ast.StringNode:
			x, err := format.ParseBytes(n.Value)
			if err != nil {
				r.Fail(r.Of(n), err.Error(), format.BytesHint+"; without a unit bytes")
				return
			}
			bytes = float64(x)
		default:
			r.Want(n, path, "an integer number of bytes or a text with its unit", "e.g. heap: 200MB")
			return
		}
		if bytes < 0 || bytes > tare.MaxHeap {
			r.Fail(r.Of(n), fmt.Sprintf("%s is not between 0 and %d MB", path, int64(tare.MaxHeap)/1e6), "e.g. 200MB")
			return
		}
		*dst = int64(bytes)
	}
}
