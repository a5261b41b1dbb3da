package benchstudy

import (
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/samecode"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/kinds/gobench"
)

// noteSameCode adds a note to each benchmark whose machine code is the same on both sides, and sets
// b.distances of the others. It skips benchmarks whose binaries cannot be compared.
func (b *Bench) noteSameCode(benchmarks []suite.Benchmark) {
	base, head := b.Sources.Suites[Base].Packages, b.Sources.Suites[Head].Packages
	b.distances = map[string]int{}
	differences := map[string]*samecode.Difference{} // by binary of the head
	for _, m := range benchmarks {
		baseBuild, headBuild := base[m.Package], head[m.Package]
		d, ok := differences[headBuild.Binary]
		if !ok {
			d, _ = compareCode(baseBuild, headBuild) // after an error d is nil, and there is no note
			differences[headBuild.Binary] = d
		}
		top, _, _ := strings.Cut(m.Name, "/")
		if d == nil {
			continue
		}
		if calls, ok := d.Distance(m.Package, top); ok {
			b.distances[m.ID()] = calls
		}
		if d.IsSame(m.Package, top) {
			b.note(SameCode(), m.ID(), "the machine code of this benchmark is the same on both sides: what differs is data, where code or data lies, or nothing")
		}
	}
}

// compareCode compares the machine code in the test binaries of a package. The error is
// [samecode.ErrUnknown] if a binary has no known call of the linker.
func compareCode(base, head gobench.Package) (*samecode.Difference, error) {
	if base.Link == nil || head.Link == nil {
		return nil, samecode.ErrUnknown
	}
	changed, err := samecode.ChangedPackages(base.Link, head.Link)
	if err != nil {
		return nil, err
	}
	baseProgram, err := samecode.Open(base.Binary)
	if err != nil {
		return nil, err
	}
	headProgram, err := samecode.Open(head.Binary)
	if err != nil {
		return nil, err
	}
	return samecode.Compare(baseProgram, headProgram, changed), nil
}
