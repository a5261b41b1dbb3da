package conformance

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// This file tests encrypted connections, and requests that a server must reject.

// checkTLS checks that a server with a certificate answers the good requests of its app over TLS
// 1.3.
func (e Env) checkTLS() error {
	cert, key, roots, err := Certificate(e.Dir)
	if err != nil {
		return err
	}
	addr, err := e.StartServer(map[string]string{server.SetTLSCert: cert, server.SetTLSKey: key})
	if err != nil {
		return err
	}
	c, err := Dial(addr, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}}, e.Limit)
	if err != nil {
		return err
	}
	defer c.Close()
	sent, err := e.sendAllOver(c)
	if err == nil {
		err = e.CheckCounts(sent, false)
	}
	if err != nil {
		return fmt.Errorf("encrypted: %w", err)
	}
	return nil
}

// CheckRefusals sends requests that the contender must answer with an error. An unknown app is unsupported,
// which is not an error.
//
// A live heap is memory that stays allocated during a measurement. The contender must accept a small one.
func (e Env) CheckRefusals() error {
	w := e.Workload(nil)
	if _, err := e.StartServer(nil); err != nil {
		return err
	}
	largeHeap := *w
	largeHeap.Heap = 1 << 40 // 1 TB
	for _, q := range []wire.Request{
		{Op: "no-such-op"},
		{Op: wire.OpStats, On: "nobody"},
		{Op: wire.OpEnd, On: "nobody"},
		{Op: wire.OpAnswer, On: w.ID, Cases: []int{0}},
		{Op: wire.OpSlice, On: w.ID, Until: "ops", Ops: 1},
		{Op: wire.OpPrepare, Workload: e.Workload(map[string]string{server.SetLog: "loud"})},
		{Op: wire.OpPrepare, Workload: e.Workload(map[string]string{"colour": "red"})},
		{Op: wire.OpPrepare, Workload: &largeHeap},
	} {
		a, err := e.Process.Do(q)
		switch {
		case err != nil:
			return err
		case a.Error == nil || a.Error.Class == "":
			return fmt.Errorf("%s on %q: the reply is no error reply: %+v", q.Op, q.On, a)
		case q.Op == "no-such-op" && a.Error.Class != "unknown-op":
			return fmt.Errorf("an unknown op is rejected as %s, want unknown-op", a.Error.Class)
		}
	}
	smallHeap := *w
	smallHeap.Heap = 1 << 20
	if _, err := e.Process.OK(wire.Request{Op: wire.OpPrepare, Workload: &smallHeap}); err != nil {
		return fmt.Errorf("with heap_bytes of 1 MB: %w", err)
	}
	unknownApp := *w
	unknownApp.Spec = json.RawMessage(`{"app":"no such app"}`)
	if a, err := e.Process.OK(wire.Request{Op: wire.OpPrepare, Workload: &unknownApp}); err != nil || !a.Unsupported {
		return errors.Join(err, fmt.Errorf("an unknown app is not unsupported: %+v", a))
	}
	return nil
}
