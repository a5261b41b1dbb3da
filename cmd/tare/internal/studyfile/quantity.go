package studyfile

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
)

const bytesHint = "a number with kB, MB, GB, KiB, MiB or GiB, e.g. 200MB; without a unit bytes"

var quantity = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?(B|kB|MB|GB|KiB|MiB|GiB)$`)

// memory reads an amount of memory of at most tare.MaxHeap: a number of bytes,
// or a text with a unit.
func (r *reader) memory(into *int64) yamlfile.Take {
	return func(n ast.Node, path string) {
		var bytes float64
		switch n := n.(type) {
		case *ast.IntegerNode:
			r.Number(&bytes)(n, path)
		case *ast.StringNode:
			m := quantity.FindStringSubmatch(n.Value)
			if m == nil {
				r.Fail(r.Of(n), fmt.Sprintf("%q is not an amount of memory", n.Value), bytesHint)
				return
			}
			x, err := strconv.ParseFloat(m[1], 64)
			if err != nil { // out of range
				x = math.Inf(1)
			}
			bytes = math.Round(x * unit(m[2]))
		default:
			r.Want(n, path, "a whole number of bytes or a text with its unit", "e.g. heap: 200MB")
			return
		}
		if bytes < 0 || bytes > tare.MaxHeap {
			r.Fail(r.Of(n), fmt.Sprintf("%s is not between 0 and %d MB", path, int64(tare.MaxHeap)/1e6), "e.g. 200MB")
			return
		}
		*into = int64(bytes)
	}
}

// unit is how many bytes a unit has.
func unit(name string) float64 {
	switch name {
	case "kB":
		return 1e3
	case "MB":
		return 1e6
	case "GB":
		return 1e9
	case "KiB":
		return 1 << 10
	case "MiB":
		return 1 << 20
	case "GiB":
		return 1 << 30
	}
	return 1
}
