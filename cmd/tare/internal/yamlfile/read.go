package yamlfile

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare/cmd/tare/internal/suggest"
)

// Reader decodes nodes into fields. It keeps the first error; later values must not be used.
type Reader struct {
	*Positions
	Err error // an *[Error]
}

// Take decodes the value of the field at path from n.
type Take func(n ast.Node, path string)

// Fail records an error at a position, with a hint.
func (r *Reader) Fail(at Position, what, hint string) {
	if r.Err == nil {
		r.Err = r.newError(at, what, hint)
	}
}

// Want fails because n does not have the type that path needs.
func (r *Reader) Want(n ast.Node, path, what, hint string) {
	if path == "" {
		path = "the " + r.format.Noun
	}
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		r.Fail(r.Of(n), "YAML anchors, aliases and tags are not used in "+r.format.Noun+" files", "write the value itself")
	default:
		r.Fail(r.Of(n), fmt.Sprintf("%s is %s, not %s", path, kindOf(n), what), hint)
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

// Mapping decodes every key of n with its Take in known. later holds keys of the format that
// this version does not support, and what to do instead.
func (r *Reader) Mapping(n ast.Node, path, hint string, known map[string]Take, later map[string]string) {
	m, ok := n.(ast.MapNode)
	if !ok {
		r.Want(n, path, "a mapping", hint)
		return
	}
	for pairs := m.MapRange(); pairs.Next() && r.Err == nil; {
		key, ok := pairs.Key().(*ast.StringNode)
		if !ok {
			r.Fail(r.Of(pairs.Key()), "a key here is a plain word", "known: "+strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			return
		}
		read := known[key.Value]
		if instead, ok := later[key.Value]; ok {
			r.Fail(r.Of(key), fmt.Sprintf("%q is not supported yet", key.Value), instead)
			return
		}
		if read == nil {
			names := slices.Sorted(maps.Keys(known))
			r.Fail(r.Of(key), fmt.Sprintf("unknown key %q", key.Value), cmp.Or(suggest.Hint(key.Value, names), "known: "+strings.Join(names, ", ")))
			return
		}
		at := key.Value
		if path != "" {
			at = path + "." + at
		}
		r.Put(at, key)
		if _, null := pairs.Value().(*ast.NullNode); !null {
			r.Put(at, pairs.Value())
		}
		read(pairs.Value(), at)
	}
}

// List decodes the items of n, or n itself as the only item if it is neither a list nor empty.
func (r *Reader) List(item Take) Take {
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
			r.Put(at, n)
			item(n, at)
		}
	}
}

// Text reads a text. Numbers and dates must be in quotes, so that they keep their spelling.
func (r *Reader) Text(into *string, hint string) Take {
	return func(n ast.Node, path string) {
		switch n := n.(type) {
		case *ast.StringNode:
			*into = n.Value
		case *ast.LiteralNode:
			*into = n.Value.Value
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
			r.Want(n, path, "text", cmp.Or(hint, fmt.Sprintf("put it in quotes: %q", n.GetToken().Value)))
		default:
			r.Want(n, path, "text", hint)
		}
	}
}

// Texts reads a list of texts.
func (r *Reader) Texts(into *[]string, hint string) Take {
	return r.List(func(n ast.Node, path string) {
		var s string
		r.Text(&s, hint)(n, path)
		*into = append(*into, s)
	})
}

// Number reads a finite number.
func (r *Reader) Number(into *float64) Take {
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
				r.Fail(r.Of(n), path+" is out of range", "")
			}
		case *ast.InfinityNode, *ast.NanNode:
			r.Fail(r.Of(n), path+" is not a finite number", "")
		default:
			r.Want(n, path, "a number", "write it without unit and quotes, e.g. 91882")
		}
	}
}

// Count reads a whole number from 0 to 2^31−1.
func (r *Reader) Count(into *int) Take {
	return func(n ast.Node, path string) {
		i, ok := n.(*ast.IntegerNode)
		if !ok {
			r.Want(n, path, "a whole number", "e.g. 50")
			return
		}
		v, err := strconv.ParseInt(fmt.Sprint(i.Value), 10, 32)
		if err != nil {
			r.Fail(r.Of(n), fmt.Sprintf("%s is %v, which is out of range", path, i.Value), "e.g. 50")
			return
		}
		*into = int(v)
	}
}

// Duration reads a duration above zero, with its unit.
func (r *Reader) Duration(into *time.Duration) Take {
	return func(n ast.Node, path string) {
		s, ok := n.(*ast.StringNode)
		if !ok {
			r.Want(n, path, "a duration", "with its unit, e.g. 40s or 5m")
			return
		}
		d, err := time.ParseDuration(s.Value)
		if err != nil || d <= 0 {
			r.Fail(r.Of(n), fmt.Sprintf("%q is not a duration above zero", s.Value), "e.g. 40s or 5m")
			return
		}
		*into = d
	}
}

// Yes reads true or false.
func (r *Reader) Yes(into *bool) Take {
	return func(n ast.Node, path string) {
		b, ok := n.(*ast.BoolNode)
		if !ok {
			r.Want(n, path, "true or false", "e.g. "+path[strings.LastIndex(path, ".")+1:]+": true")
			return
		}
		*into = b.Value
	}
}

// Shaped reads a text that matches shape. The error for other texts is the text in quotes
// followed by isNot.
func (r *Reader) Shaped(into *string, shape *regexp.Regexp, isNot, hint string) Take {
	return func(n ast.Node, path string) {
		r.Text(into, hint)(n, path)
		if r.Err == nil && !shape.MatchString(*into) {
			r.Fail(r.Of(n), fmt.Sprintf("%q %s", *into, isNot), hint)
		}
	}
}
