package studyfile

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare/cmd/tare/internal/near"
)

// reader turns nodes into fields. The first error stays; what is read after
// it is not used.
type reader struct {
	*Positions
	err error
}

// take reads the value of one field from n; path says which one.
type take func(n ast.Node, path string)

func (r *reader) fail(at position, what, hint string) {
	if r.err == nil {
		r.err = r.Positions.fail(at, what, hint)
	}
}

// want fails because n is not what path needs.
func (r *reader) want(n ast.Node, path, what, hint string) {
	if path == "" {
		path = "the study"
	}
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		r.fail(r.of(n), "YAML anchors, aliases and tags are not used in study files", "write the value itself")
	default:
		r.fail(r.of(n), fmt.Sprintf("%s is %s, not %s", path, kindOf(n), what), hint)
	}
}

func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return "empty"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.SequenceNode:
		return "a list"
	case ast.MapNode:
		return "a mapping"
	}
	return "something else"
}

// mapping reads every key of n with the taker of that name. later are keys
// that the format has but this version cannot carry out, and what to do
// instead.
func (r *reader) mapping(n ast.Node, path, hint string, known map[string]take, later map[string]string) {
	m, ok := n.(ast.MapNode)
	if !ok {
		r.want(n, path, "a mapping", hint)
		return
	}
	for pairs := m.MapRange(); pairs.Next() && r.err == nil; {
		key, ok := pairs.Key().(*ast.StringNode)
		if !ok {
			r.fail(r.of(pairs.Key()), "a key here is a plain word", "known: "+strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			return
		}
		read := known[key.Value]
		if instead, ok := later[key.Value]; ok {
			r.fail(r.of(key), fmt.Sprintf("%q is not supported yet", key.Value), instead)
			return
		}
		if read == nil {
			names := slices.Sorted(maps.Keys(known))
			r.fail(r.of(key), fmt.Sprintf("unknown key %q", key.Value), cmp.Or(near.Hint(key.Value, names), "known: "+strings.Join(names, ", ")))
			return
		}
		at := key.Value
		if path != "" {
			at = path + "." + at
		}
		r.at[at] = r.of(key)
		if _, null := pairs.Value().(*ast.NullNode); !null {
			r.at[at] = r.of(pairs.Value())
		}
		read(pairs.Value(), at)
	}
}

// list reads the items of n, or n itself as the only one where it is neither
// a list nor empty.
func (r *reader) list(item take) take {
	return func(n ast.Node, path string) {
		items := []ast.Node{n}
		switch n := n.(type) {
		case *ast.NullNode:
			return
		case *ast.SequenceNode:
			items = n.Values
		}
		for i, n := range items {
			at := fmt.Sprintf("%s[%d]", path, i)
			r.at[at] = r.of(n)
			item(n, at)
		}
	}
}

// text reads a text. A number or a date is one only in quotes, so that what
// was written is what is meant.
func (r *reader) text(into *string, hint string) take {
	return func(n ast.Node, path string) {
		switch n := n.(type) {
		case *ast.StringNode:
			*into = n.Value
		case *ast.LiteralNode:
			*into = n.Value.Value
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
			r.want(n, path, "text", cmp.Or(hint, fmt.Sprintf("put it in quotes: %q", n.GetToken().Value)))
		default:
			r.want(n, path, "text", hint)
		}
	}
}

func (r *reader) texts(into *[]string, hint string) take {
	return r.list(func(n ast.Node, path string) {
		var s string
		r.text(&s, hint)(n, path)
		*into = append(*into, s)
	})
}

func (r *reader) number(into *float64) take {
	return func(n ast.Node, path string) {
		switch n := n.(type) {
		case *ast.IntegerNode:
			switch v := n.Value.(type) {
			case int64:
				*into = float64(v)
			case uint64:
				*into = float64(v)
			}
		case *ast.FloatNode:
			if *into = n.Value; math.IsInf(n.Value, 0) {
				r.fail(r.of(n), path+" is out of range", "")
			}
		case *ast.InfinityNode, *ast.NanNode:
			r.fail(r.of(n), path+" is not a finite number", "")
		default:
			r.want(n, path, "a number", "write it without unit and quotes, e.g. 91882")
		}
	}
}

// count reads a whole number from 0 to 2^31−1.
func (r *reader) count(into *int) take {
	return func(n ast.Node, path string) {
		i, ok := n.(*ast.IntegerNode)
		if !ok {
			r.want(n, path, "a whole number", "e.g. 50")
			return
		}
		v, err := strconv.ParseInt(fmt.Sprint(i.Value), 10, 32)
		if err != nil {
			r.fail(r.of(n), fmt.Sprintf("%s is %v, which is out of range", path, i.Value), "e.g. 50")
			return
		}
		*into = int(v)
	}
}

func (r *reader) duration(into *time.Duration) take {
	return func(n ast.Node, path string) {
		s, ok := n.(*ast.StringNode)
		if !ok {
			r.want(n, path, "a duration", "with its unit, e.g. 40s or 5m")
			return
		}
		d, err := time.ParseDuration(s.Value)
		if err != nil || d <= 0 {
			r.fail(r.of(n), fmt.Sprintf("%q is not a duration above zero", s.Value), "e.g. 40s or 5m")
			return
		}
		*into = d
	}
}
