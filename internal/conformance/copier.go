package conformance

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/wire"
)

// Copiers returns the tests of copiers: programs that copy C structs into Go values. Every answer must equal
// the values in C memory.
//
// Every copier must support the fixture object, which gets all tests. For other fixtures only the answers are
// compared.
func Copiers() Kind {
	return Kind{
		ops: copier.Ops(),
		compare: func(op string, body, answer []byte) error {
			w, _ := copierWorkload("object", copierItems(op), op)
			return sameValue(w, body, answer)
		},
		hasOutput: func(string) bool { return false },
		needsSize: func(string) bool { return false },
		makeInput: func(dir, op string) (wire.Workload, [][]byte, error) {
			w, bodies := copierWorkload("object", copierItems(op), op)
			w, err := WritePool(dir, w, bodies)
			return w, bodies, err
		},
		checkMore: func(s Subject, dir string) error {
			if s.WrongOnPurpose {
				return nil
			}
			return s.RunSession(Session{}, func(p *Process, _ wire.Reply) error { return checkCopies(p, dir) })
		},
	}
}

func copierItems(op string) int {
	switch op {
	case copier.OpBatch, copier.OpBatchInto, copier.OpFrame:
		return 5
	}
	return 1
}

// copierWorkload returns a workload of op on n values of fixture, and its bodies. The values have
// names of all lengths.
func copierWorkload(fixture string, n int, op string) (wire.Workload, [][]byte) {
	w := wire.Workload{
		ID: fmt.Sprintf("%s-%d/%s", fixture, n, op), Fixture: fixture, N: n, Op: op,
		Set: map[string]string{copier.SetNames: "edges"},
	}
	bodies := make([][]byte, 16)
	for i := range bodies {
		bodies[i] = fmt.Appendf(nil, `{"seed":%d}`, 1000*i)
	}
	return w, bodies
}

// sameValue returns an error unless answer is the value that operation w.Op makes of body.
func sameValue(w wire.Workload, body, answer []byte) error {
	var b copier.Body
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	shape, err := copier.ShapeOf(w.Fixture, w.N)
	if err != nil {
		return err
	}
	want, err := copier.Expected(shape, copier.NamesEdges, w.Op, b.Seed)
	if err != nil {
		return err
	}
	if string(want) != string(answer) {
		return fmt.Errorf("another value than C has, which is %.300s", want)
	}
	return nil
}

func checkCopies(p *Process, dir string) error {
	sizes := map[string][]int{ // numbers of values in a body, by fixture
		"person":  {1, 3},
		"audio":   {1, 2},
		"devices": {1, 4},
		"flat":    {2, 16, 128, 1024, 8192},
		"nested":  {1, 2, 3, 4, 5, 6, 7, 8, 9},
		"fields":  {1, 4, 16, 64},
	}
	var errs []error
	for fixture, counts := range sizes {
		for _, n := range counts {
			for _, op := range copier.Ops() {
				if shape, err := copier.ShapeOf(fixture, n); err != nil || shape.Check(op) != nil {
					continue // unsupported combination
				}
				if err := checkCopy(p, dir, fixture, n, op); err != nil {
					errs = append(errs, fmt.Errorf("%s of %s-%d: %w", op, fixture, n, err))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// checkCopy compares the answers to two bodies, and a second answer to the first body: a copier
// must not keep values of an earlier body. It passes if the copier does not support the operation.
func checkCopy(p *Process, dir, fixture string, n int, op string) error {
	w, bodies := copierWorkload(fixture, n, op)
	w, err := WritePool(dir, w, bodies[:2])
	if err != nil {
		return err
	}
	reply, err := p.OK(wire.Request{Op: wire.OpPrepare, Workload: &w})
	if err != nil || reply.Unsupported {
		return err
	}
	reply, err = p.OK(wire.Request{Op: wire.OpAnswer, On: w.ID, Cases: []int{0, 1, 0}})
	if err != nil {
		return err
	}
	if len(reply.Answers) != 3 {
		return fmt.Errorf("%d answers to 3 cases", len(reply.Answers))
	}
	for _, answer := range reply.Answers {
		if answer.Error != "" {
			return fmt.Errorf("case %d: error %s", answer.Case, answer.Error)
		}
		if err := sameValue(w, bodies[answer.Case], answer.Output); err != nil {
			return fmt.Errorf("case %d: %w\n got %.300s", answer.Case, err, answer.Output)
		}
	}
	return nil
}
