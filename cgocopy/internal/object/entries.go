package object

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// entries reads DWARF entries, the descriptions of types and their parts, in order. An entry with Tag 0
// ends the children of an entry.
type entries struct {
	*dwarf.Reader
	ends int // entries with Tag 0 since the last other entry
}

// maxEnds is the largest number of entries with Tag 0 in a row. More of them are the padding of a damaged
// file, and would take long to read.
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

// skipChildren skips all entries below e, which must be the last entry that list has read. It reads each of
// them: in a damaged file, the offset of the next sibling may lead backwards.
func skipChildren(e *dwarf.Entry, list *entries) error {
	for depth := 0; ; {
		switch {
		case e == nil:
			return nil
		case e.Tag == 0:
			depth--
		case e.Children:
			depth++
		}
		if depth <= 0 {
			return nil
		}
		var err error
		if e, err = list.Next(); err != nil {
			return fmt.Errorf("read DWARF: %w", err)
		}
	}
}

// recordScopes records the namespaces and classes around each C++ type below the last entry. around is the
// scope of that entry, e.g. "geo::".
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
		isScope := slices.Contains([]dwarf.Tag{dwarf.TagNamespace, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType}, e.Tag)
		switch {
		case !e.Children:
			// There is nothing below e.
		case isScope && name != "":
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
