package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// readCalls parses the values of -func, the C functions to wrap. withTypes adds their types later.
func readCalls(list []string) ([]plan.WantedCall, error) {
	var calls []plan.WantedCall
	for _, text := range list {
		c, err := plan.ParseCall(text)
		if err != nil {
			return nil, usageErrorf("-func '%s': %v", text, err)
		}
		calls = append(calls, plan.WantedCall{CallSpec: c})
	}
	return calls, nil
}

// calledFuncs returns the names of the C functions that generated code calls, sorted. Some free memory or
// describe error codes.
func (o options) calledFuncs(calls []plan.WantedCall, tags map[string]plan.Tag) ([]string, error) {
	names := map[string]bool{}
	for _, c := range calls {
		names[c.C], names[c.Free], names[c.Text] = true, true, true
	}
	for key, tag := range tags {
		names[tag.Free] = true
		if tag.Free != "" && (o.object != "" || o.cxx) {
			return nil, usageErrorf("-tag %s: free= needs headers in C", key)
		}
	}
	delete(names, "")
	if len(calls) > 0 && o.cxx {
		return nil, usageErrorf("-func needs headers in C; declare the functions extern \"C\" in one")
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// withTypes returns the calls with the types of their functions. found has these types; a name there is
// followed by "()". It omits unknown functions, which are reported elsewhere. Its errors are about wrong
// parameters of functions that free memory or describe error codes.
func withTypes(calls []plan.WantedCall, tags map[string]plan.Tag, found map[string]*ctype.Type) ([]plan.WantedCall, error) {
	var all []error
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if f := found[tags[key].Free+"()"]; f != nil && !takesPointer(f, 1) {
			name := tags[key].Free
			all = append(all, fmt.Errorf("%s: free=%s: it is no function of one pointer", key, name))
		}
	}
	var known []plan.WantedCall
	for _, c := range calls {
		c.Type = found[c.C+"()"]
		free, text := found[c.Free+"()"], found[c.Text+"()"]
		n := max(1, len(c.With)) // number of arguments of free; without c.With only the output
		if free != nil && (len(free.Params) != n || c.With == nil && !takesPointer(free, 1)) {
			all = append(all, fmt.Errorf("%s: free=%s: it takes %d arguments, not %d; say them, e.g. free=%s(out,len)", c.C, c.Free, len(free.Params), n, c.Free))
		}
		if text != nil && (len(text.Params) != 1 || text.Elem.Strip() == nil || text.Elem.Strip().Kind != ctype.Pointer) {
			all = append(all, fmt.Errorf("%s: error=%s: it is no function of a code that returns text", c.C, c.Text))
		}
		if c.Type != nil {
			known = append(known, c)
		}
	}
	return known, errors.Join(all...)
}

// takesPointer reports whether function f has n parameters, and the first is a pointer.
func takesPointer(f *ctype.Type, n int) bool {
	return len(f.Params) == n && f.Params[0].Strip() != nil && f.Params[0].Strip().Kind == ctype.Pointer
}
