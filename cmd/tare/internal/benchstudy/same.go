package benchstudy

import (
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/samecode"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/kinds/gobench"
)

// noteSameCode notes the benchmarks whose code is the same on both sides, if it can compare them.
func (b *Bench) noteSameCode(benchmarks []suite.Benchmark) {
	base, head := b.Sources.Suites[Base].Packages, b.Sources.Suites[Head].Packages
	differences := map[string]*samecode.Difference{} // by binary of the head
	for _, m := range benchmarks {
		was, is := base[m.Package], head[m.Package]
		d, ok := differences[is.Binary]
		if !ok {
			d, _ = compareCode(was, is)
			differences[is.Binary] = d
		}
		top, _, _ := strings.Cut(m.Name, "/")
		if d != nil && d.Same(m.Package, top) {
			b.note(SameCode(), m.ID(), "the machine code of this benchmark is the same on both sides: what differs is data, where code or data lies, or nothing")
		}
	}
}

// compareCode compares the test binaries of a package.
func compareCode(base, head gobench.Package) (*samecode.Difference, error) {
	if base.Link == nil || head.Link == nil {
		return nil, samecode.ErrUnknown
	}
	changed, err := samecode.Changed(base.Link, head.Link)
	if err != nil {
		return nil, err
	}
	was, err := samecode.Open(base.Binary)
	if err != nil {
		return nil, err
	}
	is, err := samecode.Open(head.Binary)
	if err != nil {
		return nil, err
	}
	return samecode.Compare(was, is, changed), nil
}
