package conformance_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/internal/conformance"
)

// beCopier makes the test binary the copier with the defect that its first argument names.
func beCopier() {
	for _, d := range copierDefects() {
		if len(os.Args) == 2 && os.Args[1] == "copier "+d.name {
			copier.Main(d.impl)
		}
	}
}

// copierDefect is a copier that does one thing wrong, and what the suite says.
type copierDefect struct {
	name string
	impl copier.Impl
	want string // empty: nothing is wrong
}

func copierDefects() []copierDefect {
	trip := func(from, into any) error {
		text, err := json.Marshal(from)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, into)
	}
	filled := map[any]bool{}
	without := copier.RoundTrips(trip)
	delete(without, "Nest9")
	return []copierDefect{
		{"none", copier.Impl{Types: copier.RoundTrips(trip)}, ""},
		{"null", copier.Null(), ""},
		{"without a type", copier.Impl{Types: without}, ""},
		{"nothing", copier.Impl{}, "supports none"},
		{"copies nothing", copier.Impl{Types: copier.RoundTrips(func(_, _ any) error { return nil })}, "object-1/single: case 15: another value than C has"},
		{"fails", copier.Impl{Types: copier.RoundTrips(func(_, _ any) error { return errors.New("type not registered") })}, "type not registered"},
		{"blind", copier.Impl{Blind: true, Types: copier.RoundTrips(func(_, _ any) error { return errors.New("no") })}, "another value than C has"},
		{"cuts long names", copier.Impl{Types: copier.RoundTrips(func(from, into any) error {
			err := trip(from, into)
			if o, ok := into.(*copier.GameObject); ok && len(o.Name) == 64 {
				o.Name = o.Name[:63]
			}
			return err
		})}, "object-1/single: case"},
		{"one type wrong", copier.Impl{Types: copier.RoundTrips(func(from, into any) error {
			err := trip(from, into)
			if n, ok := into.(*copier.Nest9); ok {
				n.Inner.Inner.Level++
			}
			return err
		})}, "of nested-9: case 0: another value than C has"},
		{"into adds", copier.Impl{Types: copier.RoundTrips(func(from, into any) error {
			err := trip(from, into)
			if d, ok := into.(*copier.DeviceList); ok {
				if filled[into] {
					d.Tags = append(d.Tags, 1)
				}
				filled[into] = true
			}
			return err
		})}, "into of devices-1: case 0: another value"},
	}
}

// TestSuiteFindsCopierDefects: every defect is found, for its own reason, and sound copiers pass.
func TestSuiteFindsCopierDefects(t *testing.T) {
	for _, d := range copierDefects() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			s := conformance.Subject{Command: command("copier " + d.name), Manifest: conformance.Manifest{ID: "x", Kind: "copier"}, Limit: 30 * time.Second}
			s.Enough = func(wrong error) bool { return d.want != "" && strings.Contains(wrong.Error(), d.want) }
			err := errors.Join(s.Test(kinds(), t.TempDir())...)
			switch {
			case d.want == "" && err != nil:
				t.Errorf("a sound copier: %v", err)
			case d.want != "" && err == nil:
				t.Error("the defect is not found")
			case d.want != "" && !s.Enough(err):
				t.Errorf("found %v; want %q", err, d.want)
			}
		})
	}
}

// TestCopierTrapsMayFail: what a trap reproduces is often an error that nobody looks at.
func TestCopierTrapsMayFail(t *testing.T) {
	for _, name := range []string{"fails", "blind", "copies nothing"} {
		s := conformance.Subject{Command: command("copier " + name), Manifest: conformance.Manifest{ID: "x", Kind: "copier", WrongOnPurpose: true}, Limit: 30 * time.Second}
		for _, err := range s.Test(kinds(), t.TempDir()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
