package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/conformance"
	"github.com/tarebench/tare/load/hist"
)

// A program of app users may have its own client and a server. The client must get correct results,
// also under load.

// writeCalls writes a pool of calls to addr for the client.
func (t protocolTest) writeCalls(addr string, set map[string]string, list ...rpc.Call) (*wire.Workload, error) {
	var lines [][]byte
	for _, c := range list {
		line, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	settings := map[string]string{rpc.SetAddr: addr, rpc.SetProtocol: t.protocol}
	maps.Copy(settings, set)
	w, err := conformance.WritePool(t.Dir, wire.Workload{ID: "users/calls", Fixture: "users", Op: "calls", Set: settings}, lines)
	return &w, err
}

// withClient starts the program again, as a client.
func (t protocolTest) withClient(f func(p *conformance.Process) error) error {
	return t.RunSession(conformance.Session{}, func(p *conformance.Process, _ wire.Reply) error { return f(p) })
}

// checkClient makes every call of the script with the client. Results must be the reference's, and the service
// must get the same calls.
func (t protocolTest) checkClient() error {
	p, err := t.openClient(seeded, nil)
	if err != nil {
		return err
	}
	defer p.Close()
	addr := p.base[len("http://"):]
	ref, err := newReference(nil, time.Hour)
	if err != nil {
		return err
	}
	w, err := t.writeCalls(addr, nil, callScript()...)
	if err != nil {
		return err
	}
	err = t.withClient(func(p *conformance.Process) error {
		reply, err := p.OK(wire.Request{Op: wire.OpPrepare, Workload: w})
		if err != nil || reply.Unsupported {
			return errors.Join(err, unsupportedError(reply, "calls"))
		}
		for i, c := range callScript() {
			want, wantErr := ref.doCall(c)
			reply, err := p.OK(wire.Request{Op: wire.OpAnswer, On: w.ID, Cases: []int{i}})
			if err != nil {
				return err
			}
			if t.isLenient() {
				continue
			}
			got, gotErr := parseOutcome(c, reply.Answers[0])
			var refusal *users.Error
			if errors.As(wantErr, &refusal) {
				wantErr = &users.Error{Code: refusal.Code} // the output has no message
			}
			if err := ref.checkOutcome(c, got, gotErr, want, wantErr); err != nil {
				return fmt.Errorf("call %d, %+v: %w: %.300q", i, c, err, reply.Answers[0].Output)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("its client: %w", err)
	}
	if err := t.checkCounts(ref.madeCalls(), anyBytes); err != nil {
		return fmt.Errorf("its client: %w", err)
	}
	return nil
}

// unsupportedError reports a reply that a workload is unsupported. what names its content, such as "calls".
func unsupportedError(reply wire.Reply, what string) error {
	if reply.Unsupported {
		return fmt.Errorf("%s are unsupported", what)
	}
	return nil
}

func parseOutcome(c rpc.Call, a wire.Answer) (out rpc.Outcome, err error) {
	if a.Error != "" {
		return out, errors.New(a.Error)
	}
	var refusal users.Error
	if err := json.Unmarshal(a.Output, &refusal); err != nil {
		return out, fmt.Errorf("no JSON: %w", err)
	}
	switch {
	case refusal.Code != "":
		return out, &users.Error{Code: refusal.Code}
	case c.Op == rpc.OpList:
		err = json.Unmarshal(a.Output, &out.Page)
	case c.Op == rpc.OpDelete:
		if string(a.Output) != "{}" {
			err = errors.New("want {}")
		}
	default:
		err = json.Unmarshal(a.Output, &out.User)
	}
	return out, err
}

// checkClientLoad loads the client: concurrent callers, each policy of connections, and a set rate.
func (t protocolTest) checkClientLoad() error {
	if t.WrongOnPurpose {
		return nil
	}
	p, err := t.openClient(seeded, nil)
	if err != nil {
		return err
	}
	defer p.Close()
	addr := p.base[len("http://"):]
	mix := []rpc.Call{
		{Op: rpc.OpCreate, Name: "Ada Lovelace", Email: "n%09d@example.com", EmailCounter: rpc.Created, EmailStep: true},
		{Op: rpc.OpGet, ID: users.FirstID + seeded - 1},
		{Op: rpc.OpUpdate, ID: users.FirstID + seeded - 1, Name: "Bea", Email: "w%09d@example.com", EmailCounter: rpc.Updated, EmailStep: true},
		{Op: rpc.OpGet, ID: 1, Status: 404},
		{Op: rpc.OpList, Query: "ada", Limit: 5},
	}
	sets := []map[string]string{
		{rpc.SetCallers: "8"},
		{rpc.SetPolicy: rpc.Fresh, rpc.SetCallers: "2"},
		{rpc.SetPolicy: rpc.Pool, rpc.SetCallers: "4"},
		{rpc.SetCallers: "4", rpc.SetRate: "2000"},
	}
	if t.SkipSlow {
		sets = sets[:2]
	}
	return t.withClient(func(p *conformance.Process) error {
		for _, set := range sets {
			w, err := t.writeCalls(addr, set, mix...)
			if err == nil {
				err = t.checkLoadCounts(p, w)
			}
			if err != nil {
				return fmt.Errorf("%v: %w", set, err)
			}
		}
		// Failed calls must be counted as errors.
		w, err := t.writeCalls(addr, nil, rpc.Call{Op: rpc.OpGet, ID: 1}) // there is no user 1
		if err != nil {
			return err
		}
		if _, err := p.OK(wire.Request{Op: wire.OpPrepare, Workload: w}); err != nil {
			return err
		}
		stats, err := p.OK(wire.Request{Op: wire.OpStats, On: w.ID, Ops: 5})
		isCounted := stats.Errors == 5 && stats.Message != ""
		if isWrong := !isCounted && !t.IsStatusOnly(); err != nil || isWrong {
			return errors.Join(err, fmt.Errorf("of 5 calls for a missing user %d are errors: %q", stats.Errors, stats.Message))
		}
		return nil
	})
}

// checkLoadCounts sends warm, slice and stats. The replies' counts must be those of the service.
func (t protocolTest) checkLoadCounts(p *conformance.Process, w *wire.Workload) error {
	if _, err := t.Process.OK(wire.Request{Op: wire.OpReset, On: t.Workload(nil).ID}); err != nil {
		return err
	}
	prepared, err := p.OK(wire.Request{Op: wire.OpPrepare, Workload: w})
	if err != nil || prepared.Unsupported {
		return errors.Join(err, unsupportedError(prepared, "callers"))
	}
	var begun int64 // calls
	for _, request := range []wire.Request{
		{Op: wire.OpWarm, MinNS: int64(10 * time.Millisecond), CapNS: int64(time.Second)},
		{Op: wire.OpSlice, Until: "ops", Ops: 50, Lead: 10},
		{Op: wire.OpStats, Ops: 20},
	} {
		request.On = w.ID
		reply, err := p.OK(request)
		if err != nil {
			return err
		}
		if t.IsStatusOnly() {
			reply.Errors = 0
		}
		if err := conformance.CheckReply(request, reply, false); err != nil {
			return err
		}
		if request.Op == wire.OpStats {
			begun += reply.Ops
			continue
		}
		begun += reply.Begun
		h, err := hist.Decode(string(reply.Latency))
		hasAll := h.Count() == reply.Ops && reply.Begun >= reply.Ops+request.Lead // Lead: unmeasured calls before
		if err != nil || !hasAll {
			return errors.Join(err, fmt.Errorf("%s of %d operations: latencies of %d, %d begun", request.Op, reply.Ops, h.Count(), reply.Begun))
		}
	}
	if _, err := p.OK(wire.Request{Op: wire.OpReset, On: w.ID}); err != nil {
		return err
	}
	stats, err := t.ReadCounts()
	if err != nil || t.IsStatusOnly() {
		return err
	}
	if c := stats.Calls; c == nil || c.Create+c.Get+c.Update+c.Delete+c.List != begun {
		return fmt.Errorf("its client began %d calls, the service has %+v", begun, c)
	}
	return nil
}
