package object

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"strings"
)

// entries are read one after the other.
type entries struct {
	*dwarf.Reader
	ends int // of lists, one behind the other
}

// mostEnds is how many lists may end at once: what has more is no description
// of types, but room that a file says to have.
const mostEnds = 1 << 16

// Next is the next entry; nil: there is none.
func (e *entries) Next() (*dwarf.Entry, error) {
	entry, err := e.Reader.Next()
	if err != nil || entry == nil || entry.Tag != 0 {
		e.ends = 0
		return entry, err
	}
	if e.ends++; e.ends > mostEnds {
		return nil, errors.New("too many lists end at once")
	}
	return entry, nil
}

// skip passes over what is below e, which was read last. It goes on entry by
// entry: where a file says that the next is may be before it.
func skip(e *dwarf.Entry, list *entries) error {
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

// scopes notes what is around the types below the entry that was read last.
func (r *reader) scopes(all *entries, around string) error {
	if strings.Count(around, "::") > deepest {
		return fmt.Errorf("read DWARF: namespaces %d deep", deepest)
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
			if err := r.scopes(all, around+name+"::"); err != nil {
				return err
			}
		default:
			if err := skip(e, all); err != nil {
				return err
			}
		}
	}
}
