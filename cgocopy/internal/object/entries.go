package object

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"strings"
)

// entries reads entries one after another.
type entries struct {
	*dwarf.Reader
	ends int // of lists, one after another
}

// maxEnds is the maximum number of lists that end in one place: more are no description of types,
// but padding of the file.
const maxEnds = 1 << 16

// Next returns the next entry, or nil if there is none.
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

// skipChildren skips what is below e, which was read last. It reads entry by entry: the offset of
// the next one in a file may be before it.
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

// recordScopes records the namespaces around the types below the entry that was read last.
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
		if kindOf(e) && around != "" {
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
