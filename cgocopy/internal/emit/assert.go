package emit

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// Assert is the file by which the C compiler refuses to build the package when
// a header no longer fits: sizes and offsets alone, so that a swap of two
// members is noticed too. It needs cgo, and without it is left out of a build.
func Assert(u Unit) ([]byte, error) {
	build := "cgo"
	if u.Build != "" && u.Build != build {
		build += " && (" + u.Build + ")"
	}
	u.Build = build
	f := u.begin()
	f.line("/*\n#include <stddef.h>")
	for _, h := range u.Headers {
		if strings.HasPrefix(h, "<") {
			f.line("#include %s", h)
		} else {
			f.line("#include \"%s\"", h)
		}
	}
	again := fmt.Sprintf("run go generate (%s)", short(u.Command))
	for _, s := range u.Plan.Structs {
		if !nameable(s) {
			continue
		}
		f.line("_Static_assert(sizeof(%s) == %d, \"%s has another size; %s\");", s.Says, s.C.Size, s.Says, again)
		for _, m := range s.Fields {
			if m.Rule.Op == plan.Bits {
				continue // C has no offset of these
			}
			f.line("_Static_assert(offsetof(%s, %s) == %d, \"%s.%s moved; %s\");", s.Says, m.C, m.Offset, s.Says, m.C, again)
			if m.Rule.Size > 0 && !m.Nameless {
				f.line("_Static_assert(sizeof(((%s *)0)->%s) == %d, \"%s.%s has another size; %s\");", s.Says, m.C, m.Rule.Size, s.Says, m.C, again)
			}
		}
	}
	f.line("*/\nimport \"C\"")
	return f.source()
}

// short is a command without its arguments.
func short(command string) string {
	words := strings.Fields(command)
	return strings.Join(words[:min(2, len(words))], " ")
}

// nameable reports whether C can say the type's name: one without a name lies
// in another, and is held by that one's size.
func nameable(s *plan.Struct) bool {
	return !strings.Contains(s.Says, ".") && !strings.Contains(s.Says, "without a name")
}
