package object

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"strings"
)

// entries reads DWARF entries one after another. An entry with Tag 0 ends a list of children.
type entries struct {
	*dwarf.Reader
	ends int // number of ends of lists that have been read since the last other entry
}

// maxEnds is the maximum number of ends of lists without an entry between them. More are padding of a
// damaged file, and would take long to read.
const maxEnds = 1 << 16

// Next returns the next entry, or nil at the end.
func (e *entries) Next() (*dwarf.Entry, error) {
	entry, err := e.Reader.Next()
	if err != nil || entry == nil || entry.Tag != 0 {
		e.ends = 0
		return entry, err
	}
	if e.ends++; e.ends > maxEnds {
		return nil, errors.New("too many lists end at once")
	}
	return entry, nil
}

// skipChildren skips all entries below e, which must be the last entry that list has read. It reads
// each of them: the offset of the next sibling that a file states may be wrong, and lead backwards.
func skipChildren(e *dwarf.Entry, list *entries) error {
	for deep := 0; ; {
		switch {
		case e == nil:
			return nil
		case e.Tag == 0:
			deep--
		case e.Children:
			deep++
		}
		if deep <= 0 {
			return nil
		}
		var err error
		if e, err = list.Next(); err != nil {
			return fmt.Errorf("read DWARF: %w", err)
		}
	}
}

// recordScopes records the C++ namespaces and classes around each type below the entry that all has
// read last. around is the scope of that entry, e.g. "geo::".
func (r *reader) recordScopes(all *entries, around string) error {
	if strings.Count(around, "::") > maxDepth {
		return fmt.Errorf("read DWARF: namespaces %d deep", maxDepth)
	}
	for {
		e, err := all.Next()
		if err != nil {
			return fmt.Errorf("read DWARF: %w", err)
		}
		if e == nil || e.Tag == 0 {
			return nil
		}
		if isNamedType(e) && around != "" {
			r.scope[e.Offset] = around
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		switch {
		case !e.Children:
		case name != "" && (e.Tag == dwarf.TagNamespace || e.Tag == dwarf.TagStructType || e.Tag == dwarf.TagClassType || e.Tag == dwarf.TagUnionType):
			if err := r.recordScopes(all, around+name+"::"); err != nil {
				return err
			}
		default:
			if err := skipChildren(e, all); err != nil {
				return err
			}
		}
	}
}
