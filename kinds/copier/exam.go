package copier

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/lab"
)

var _ lab.Examiner = Kind{}

// examSpec defines a semantics test, which is not timed. The contender copies one edge case, such
// as text that is not UTF-8.
type examSpec struct {
	id, fixture, op string
	n               int
	names           string // value of copier.SetNames
	property        string // row of the report's table of differences
	edgeCase        string // noun phrase that follows "changes" and "refuses"
}

func allExams() []examSpec {
	return []examSpec{
		{
			id: "exam/person/bytes", fixture: "person", op: copier.OpSingle, n: 1, names: "bytes",
			property: "text that is not UTF-8", edgeCase: "a char[64] that is not UTF-8",
		},
		{
			id: "exam/devices/bytes", fixture: "devices", op: copier.OpSingle, n: 3, names: "bytes",
			property: "text that is not UTF-8", edgeCase: "a char * that is not UTF-8",
		},
		{
			id: "exam/object/edges", fixture: "object", op: copier.OpBatch, n: 20, names: "edges",
			property: "text without a NUL", edgeCase: "a char[64] that is empty or has no NUL",
		},
	}
}

// Reference returns the name of what answers are compared with.
func (k Kind) Reference() string { return "the bytes in C memory" }

// Exams writes the inputs of all semantics tests into dir.
func (k Kind) Exams(dir string) ([]wire.Workload, error) {
	var list []wire.Workload
	for _, e := range allExams() {
		in, err := k.Input(tare.Workload{
			ID: e.id, Fixture: e.fixture, N: e.n, Op: e.op, Pool: 1, Set: map[string]string{copier.SetNames: e.names},
		}, "", dir)
		if err != nil {
			return nil, err
		}
		list = append(list, in)
	}
	return list, nil
}

// Differ compares one answer with the values in C memory. It returns false without a difference.
func (k Kind) Differ(in wire.Workload, a wire.Answer) (tare.Difference, bool) {
	i := slices.IndexFunc(allExams(), func(e examSpec) bool { return e.id == in.ID })
	q, err := readInput(in)
	if i < 0 || err != nil || a.Case < 0 || a.Case >= len(q.seeds) {
		return tare.Difference{}, false
	}
	e := allExams()[i]
	want, err := copier.Expected(q.shape, q.names, in.Op, q.seeds[a.Case])
	isCorrect := a.Error == "" && slices.Equal(want, a.Output)
	if err != nil || isCorrect {
		return tare.Difference{}, false
	}
	d := tare.Difference{
		Property: e.property, Op: e.op, Case: e.edgeCase, Class: tare.DiffersInValue,
		Asked: e.edgeCase, Reference: "kept", Got: Diff(want, a.Output), Says: "changes " + e.edgeCase,
		BearsOn: copier.Ops(),
	}
	if a.Error != "" {
		d.Class, d.Got, d.Says = tare.DiffersInAcceptance, strings.ToValidUTF8(a.Error, "�"), "refuses "+e.edgeCase
	}
	return d, true
}
