package jsonstudy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// shape counts the values at one path of JSON documents by their kinds.
type shape struct {
	nulls, bools, texts   int
	ints, unsigned, reals int // those that fit into an int64, only into a uint64, or into neither
	large                 int // integers among reals
	objects, arrays       int

	items  *shape            // shape of the items of all arrays; nil if all arrays are empty
	fields []*field          // keys of all objects, in the order of their first occurrence
	byKey  map[string]*field // the same fields by key
}

type field struct {
	key   string
	shape *shape // shape of the key's values
	seen  int    // number of objects with the key
	last  int    // number of the last object with the key, from 1, so that a repeated key counts once
}

// add adds the values of one valid document.
func (s *shape) add(body []byte) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return s.addValue(d)
}

func (s *shape) addValue(d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch x := token.(type) {
	case nil:
		s.nulls++
	case bool:
		s.bools++
	case string:
		s.texts++
	case json.Number:
		s.addNumber(x.String())
	case json.Delim:
		if x == '[' {
			return s.addArray(d)
		}
		return s.addObject(d)
	}
	return nil
}

// addNumber adds a number. It counts -0 as a real, because an int64 has no -0.
func (s *shape) addNumber(text string) {
	if _, err := strconv.ParseInt(text, 10, 64); err == nil && text != "-0" {
		s.ints++
	} else if _, err := strconv.ParseUint(text, 10, 64); err == nil {
		s.unsigned++
	} else {
		s.reals++
		if !strings.ContainsAny(text, ".eE") && text != "-0" {
			s.large++
		}
	}
}

// addArray adds an array. Its opening bracket was read.
func (s *shape) addArray(d *json.Decoder) error {
	s.arrays++
	for d.More() {
		if s.items == nil {
			s.items = new(shape)
		}
		if err := s.items.addValue(d); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// addObject adds an object. Its opening brace was read.
func (s *shape) addObject(d *json.Decoder) error {
	s.objects++
	number := s.objects
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		key, ok := token.(string)
		if !ok {
			return fmt.Errorf("a key that is no string: %v", token)
		}
		f := s.fieldFor(key)
		if f.last != number {
			f.last = number
			f.seen++
		}
		if err := f.shape.addValue(d); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func (s *shape) fieldFor(key string) *field {
	if f := s.byKey[key]; f != nil {
		return f
	}
	if s.byKey == nil {
		s.byKey = map[string]*field{}
	}
	f := &field{key: key, shape: new(shape)}
	s.byKey[key] = f
	s.fields = append(s.fields, f)
	return f
}

// merge adds the values of another path after those of s.
func (s *shape) merge(o *shape) {
	objects := s.objects // before the addition below
	s.nulls, s.bools, s.texts = s.nulls+o.nulls, s.bools+o.bools, s.texts+o.texts
	s.ints, s.unsigned, s.reals, s.large = s.ints+o.ints, s.unsigned+o.unsigned, s.reals+o.reals, s.large+o.large
	s.objects, s.arrays = s.objects+o.objects, s.arrays+o.arrays
	if o.items != nil {
		if s.items == nil {
			s.items = new(shape)
		}
		s.items.merge(o.items)
	}
	for _, other := range o.fields {
		f := s.fieldFor(other.key)
		f.seen, f.last = f.seen+other.seen, objects+other.last
		f.shape.merge(other.shape)
	}
}

func (s *shape) kindNames() []string {
	var out []string
	for _, k := range []struct {
		seen int
		name string
	}{
		{s.objects, "object"},
		{s.arrays, "array"},
		{s.texts, "string"},
		{s.ints + s.unsigned + s.reals, "number"},
		{s.bools, "boolean"},
	} {
		if k.seen > 0 {
			out = append(out, k.name)
		}
	}
	return out
}

func (s *shape) describeMixed() string { return strings.Join(s.kindNames(), " and ") }
