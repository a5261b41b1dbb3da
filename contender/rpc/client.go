package rpc

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load/pace"
)

// Settings of a client: keys of a workload's set. A workload without an
// address is for the server.
const (
	SetAddr     = "addr"     // host:port to call
	SetProtocol = "protocol" // the face's first one if omitted
	SetHTTP2    = "http2"    // on or off; off if omitted, except for gRPC
	SetPolicy   = "policy"   // one over HTTP/2 if omitted, else pool
	SetCallers  = "callers"  // concurrent callers; 1 if omitted
	SetRate     = "rate"     // of an open loop, in calls per second or in the form of package load/pace; a closed loop if 0 or omitted
)

// maxCallers limits the concurrent callers.
const maxCallers = 10_000

// prepareClient returns the client's work in a workload, whose bodies are calls.
func (f Face) prepareClient(variant string, w wire.Workload, bodies [][]byte) (contender.Work, error) {
	c := &clientWork{calls: make([]Call, len(bodies))}
	for i, body := range bodies {
		var err error
		if c.calls[i], err = ParseCall(body); err != nil {
			return contender.Work{}, fmt.Errorf("call %d: %w", i, err)
		}
	}
	t, err := f.parseTarget(variant, w.Set)
	if err != nil {
		return contender.Work{}, err
	}
	times, err := parseRate(w.Set[SetRate])
	if err != nil {
		return contender.Work{}, err
	}
	counted := &network{}
	t.Dial = counted.dialCounted
	if c.client, err = f.Dial(t); err != nil {
		return contender.Work{}, err
	}
	return contender.Work{
		Callers: t.Callers, Times: times, Do: c.doCall, Answer: c.answerCall, Network: counted.readCounts,
		Reset: func() error {
			c.counters.Reset()
			return nil
		},
		Close: func() { _ = c.client.Close() },
	}, nil
}

// parseTarget reads a set into a Target and checks that the face supports it.
func (f Face) parseTarget(variant string, set map[string]string) (Target, error) {
	known := []string{SetAddr, SetProtocol, SetHTTP2, SetPolicy, SetCallers, SetRate}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if !slices.Contains(known, key) {
			return Target{}, fmt.Errorf("unknown setting %q of a client; it knows %s", key, strings.Join(known, ", "))
		}
	}
	or := func(key, otherwise string) string {
		if v := set[key]; v != "" {
			return v
		}
		return otherwise
	}
	t := Target{Addr: set[SetAddr], Variant: variant, Protocol: or(SetProtocol, strings.Join(f.Protocols[:min(1, len(f.Protocols))], ""))}
	if !slices.Contains(f.Protocols, t.Protocol) {
		return t, fmt.Errorf("protocol %q of a face that speaks %s: %w", t.Protocol, strings.Join(f.Protocols, ", "), contender.ErrUnsupported)
	}
	switch v := set[SetHTTP2]; v {
	case "":
		t.HTTP2 = t.Protocol == GRPC
	case "on", "off":
		t.HTTP2 = v == "on"
	default:
		return t, fmt.Errorf("http2: %q is neither on nor off", v)
	}
	usual := Pool
	if t.HTTP2 {
		usual = One
	}
	var err error
	t.Policy = or(SetPolicy, usual)
	switch t.Callers, err = strconv.Atoi(or(SetCallers, "1")); {
	case !slices.Contains([]string{Pool, One, Fresh}, t.Policy):
		return t, fmt.Errorf("policy: %q is neither pool, one nor fresh", t.Policy)
	case err != nil || t.Callers < 1 || t.Callers > maxCallers:
		return t, fmt.Errorf("callers: %q is not a whole number from 1 to %d", set[SetCallers], maxCallers)
	case !t.HTTP2 && t.Protocol == GRPC:
		return t, fmt.Errorf("gRPC without HTTP/2: %w", contender.ErrUnsupported)
	case !t.HTTP2 && t.Policy == One && t.Callers > 1:
		return t, fmt.Errorf("one connection for %d callers without HTTP/2: %w", t.Callers, contender.ErrUnsupported)
	}
	return t, nil
}

// parseRate returns the schedule of an open loop, nil for a closed one.
func parseRate(rate string) (func(uint64) func() time.Duration, error) {
	if n, err := strconv.ParseFloat(rate, 64); rate == "" || err == nil && n == 0 {
		return nil, nil
	}
	const over = time.Second // of ramps and steps, which are of no use here
	p, err := pace.Parse(rate, over)
	if err != nil {
		return nil, err
	}
	return p.Times, nil
}

// clientWork is the work of a client.
type clientWork struct {
	client   Client
	calls    []Call
	counters Counters
}

// doCall makes one call for one of the callers. The result of a call is a value, which has no size.
func (c *clientWork) doCall(i int) (int, error) {
	call := c.calls[i].Fill(&c.counters)
	_, err := call.Do(context.Background(), c.client)
	return 0, call.Wrong(err)
}

func (c *clientWork) answerCall(i int) (contender.Answered, error) {
	call := c.calls[i].Fill(&c.counters)
	out, err := call.Do(context.Background(), c.client)
	text, err := call.JSON(out, err)
	return contender.Answered{Output: text}, err
}
