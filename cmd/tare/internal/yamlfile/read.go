package yamlfile

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

	"github.com/tarebench/tare/cmd/tare/internal/suggest"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// Reader decodes nodes into fields. Only the first error is recorded, in Err. After an error, do not use the
// fields. A mapping with a name and a number is read by:
//
//	r.Mapping(root, "", "", map[string]Take{"name": r.Text(&s.Name, ""), "runs": r.Count(&s.Runs)}, nil)
type Reader struct {
	*Positions
	Err error // first error, an *[Error], or nil
}

// Take decodes n, the value of the field at path, into a variable.
type Take func(n ast.Node, path string)

// Fail records an error at a position, unless there is one already.
func (r *Reader) Fail(pos Position, what, hint string) {
	if r.Err == nil {
		r.Err = r.newError(pos, what, hint)
	}
}

// Want records that n has the wrong type for the field at path. what names the right type, e.g. "a duration".
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

// Mapping decodes the value of each key of the mapping n by the Take in known. It records the positions of the
// keys. An unknown key is an error. unsupported has special hints for some unknown keys.
func (r *Reader) Mapping(n ast.Node, path, hint string, known map[string]Take, unsupported map[string]string) {
	m, ok := n.(ast.MapNode)
	if !ok {
		r.Want(n, path, "a mapping", hint)
		return
	}
	for pairs := m.MapRange(); pairs.Next() && r.Err == nil; {
		key, ok := pairs.Key().(*ast.StringNode)
		if !ok {
			r.Fail(r.Of(pairs.Key()), "a key of this file is a plain word", "known: "+strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			return
		}
		if instead, ok := unsupported[key.Value]; ok {
			r.Fail(r.Of(key), fmt.Sprintf("%q is not supported yet", key.Value), instead)
			return
		}
		take := known[key.Value]
		if take == nil {
			names := slices.Sorted(maps.Keys(known))
			r.Fail(r.Of(key), fmt.Sprintf("unknown key %q", key.Value), cmp.Or(suggest.Hint(key.Value, names), "known: "+strings.Join(names, ", ")))
			return
		}
		fieldPath := key.Value
		if path != "" {
			fieldPath = path + "." + fieldPath
		}
		r.Put(fieldPath, key) // remains if the value is empty
		if _, isNull := pairs.Value().(*ast.NullNode); !isNull {
			r.Put(fieldPath, pairs.Value())
		}
		take(pairs.Value(), fieldPath)
	}
}

// List decodes each item of a list. A single value counts as a list of one item.
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
			fieldPath := fmt.Sprintf("%s[%d]", path, i)
			r.Put(fieldPath, n)
			item(n, fieldPath)
		}
	}
}

// Text reads a text. Numbers and booleans need quotes, to keep their spelling.
func (r *Reader) Text(dst *string, hint string) Take {
	return func(n ast.Node, path string) {
		switch n := n.(type) {
		case *ast.StringNode:
			*dst = n.Value
		case *ast.LiteralNode:
			*dst = n.Value.Value
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
			r.Want(n, path, "text", cmp.Or(hint, fmt.Sprintf("put it in quotes: %q", n.GetToken().Value)))
		default:
			r.Want(n, path, "text", hint)
		}
	}
}

// Texts reads a list of texts.
func (r *Reader) Texts(dst *[]string, hint string) Take {
	return r.List(func(n ast.Node, path string) {
		var s string
		r.Text(&s, hint)(n, path)
		*dst = append(*dst, s)
	})
}

// Number reads a finite number.
func (r *Reader) Number(dst *float64) Take {
	return func(n ast.Node, path string) {
		switch n := n.(type) {
		case *ast.IntegerNode:
			switch v := n.Value.(type) {
			case int64:
				*dst = float64(v)
			case uint64:
				*dst = float64(v)
			}
		case *ast.FloatNode:
			if *dst = n.Value; math.IsInf(n.Value, 0) {
				r.Fail(r.Of(n), path+" is out of range", "")
			}
		case *ast.InfinityNode, *ast.NanNode:
			r.Fail(r.Of(n), path+" is not a finite number", "")
		default:
			r.Want(n, path, "a number", "write it without unit and quotes, e.g. 91882")
		}
	}
}

// Count reads an integer from 0 to 2^31−1.
func (r *Reader) Count(dst *int) Take {
	return func(n ast.Node, path string) {
		i, ok := n.(*ast.IntegerNode)
		if !ok {
			r.Want(n, path, "an integer", "e.g. 50")
			return
		}
		v, err := strconv.ParseInt(fmt.Sprint(i.Value), 10, 32)
		if err != nil {
			r.Fail(r.Of(n), fmt.Sprintf("%s is %v, which is out of range", path, i.Value), "e.g. 50")
			return
		}
		*dst = int(v)
	}
}

// Duration reads a duration above zero, with its unit.
func (r *Reader) Duration(dst *time.Duration) Take {
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
		*dst = d
	}
}

// Yes reads a boolean: true or false.
func (r *Reader) Yes(dst *bool) Take {
	return func(n ast.Node, path string) {
		b, ok := n.(*ast.BoolNode)
		if !ok {
			r.Want(n, path, "true or false", "e.g. "+path[strings.LastIndex(path, ".")+1:]+": true")
			return
		}
		*dst = b.Value
	}
}

// Shaped reads a text that matches shape. Other texts are an error such as "a b" is not an id, with isNot after
// the text.
func (r *Reader) Shaped(dst *string, shape *lazyregexp.Regexp, isNot, hint string) Take {
	return func(n ast.Node, path string) {
		r.Text(dst, hint)(n, path)
		if r.Err == nil && !shape.MatchString(*dst) {
			r.Fail(r.Of(n), fmt.Sprintf("%q %s", *dst, isNot), hint)
		}
	}
}
