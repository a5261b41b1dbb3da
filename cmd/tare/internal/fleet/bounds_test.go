package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// putter gives a desk a part of somebody's parcel.
func putter(t *testing.T, d *parcelReceiver) func(from, parcel string, n, of int, data []byte) receipt {
	return func(from, parcel string, n, of int, data []byte) receipt {
		text, err := json.Marshal(parcelPart{parcel, n, of, data})
		if err != nil {
			t.Fatal(err)
		}
		return d.receivePart(from, text)
	}
}

// Parcels that one agent begins and leaves do not keep others' out.
func TestParcelsOfOneAgent(t *testing.T) {
	t.Parallel()
	took := map[string]int{}
	d := &parcelReceiver{maxBytes: 4 * maxPart, take: func(from string, _ []byte) error { took[from]++; return nil }}
	put := putter(t, d)
	full := make([]byte, maxPart)
	for n := range 100 {
		if r := put("mallory", fmt.Sprint(n), 0, 2, full); r != (receipt{}) {
			t.Fatalf("parcel %d: %+v", n, r)
		}
	}
	for n := range 2 {
		if r := put("alice", "p", n, 2, full); r != (receipt{}) {
			t.Errorf("part %d of another agent: %+v", n, r)
		}
	}
	if r := put("mallory", "98", 1, 2, full); !r.Busy {
		t.Errorf("a parcel that another one ended: %+v", r)
	}
	if r := put("mallory", "99", 1, 2, full); r != (receipt{}) || took["mallory"] != 1 || took["alice"] != 1 || len(d.open) != 0 {
		t.Errorf("%+v, taken in: %v, open: %d", r, took, len(d.open))
	}
}

// Agents together have a bounded number of bytes open. The one that has sent nothing for
// longest begins again.
func TestParcelsOfMany(t *testing.T) {
	t.Parallel()
	took := map[string]int{}
	d := &parcelReceiver{maxBytes: 2 * maxPart, take: func(from string, body []byte) error { took[from] = len(body); return nil }}
	put := putter(t, d)
	full := make([]byte, maxPart)
	name := func(i int) string { return fmt.Sprint("agent-", i) }
	const many = 2*maxOpen + 3
	for i := range many {
		if r := put(name(i), "p", 0, 2, full); r != (receipt{}) {
			t.Fatalf("%d: %+v", i, r)
		}
	}
	held := 0
	for _, o := range d.open {
		held += len(o.body)
	}
	if most := maxOpen * d.maxBytes; held > most {
		t.Errorf("%d bytes are held of at most %d", held, most)
	}
	if r := put(name(many-1), "p", 1, 2, full); r != (receipt{}) {
		t.Errorf("the last: %+v", r)
	}
	if r := put(name(0), "p", 1, 2, full); !r.Busy {
		t.Errorf("the first: %+v", r)
	}
	for n := range 2 {
		if r := put(name(0), "p", n, 2, full); r != (receipt{}) {
			t.Errorf("the first again, part %d: %+v", n, r)
		}
	}
	if took[name(0)] != 2*maxPart || took[name(many-1)] != 2*maxPart || len(took) != 2 {
		t.Errorf("taken in: %v", took)
	}
}

// What is remembered of parcels has short names, and is not more and more.
func TestReceipts(t *testing.T) {
	d := &parcelReceiver{maxBytes: maxPart, take: func(string, []byte) error { return nil }}
	put := putter(t, d)
	if r := put("a", strings.Repeat("p", maxID+1), 0, 1, nil); r.Refused == "" || r.Busy {
		t.Errorf("a name of %d bytes: %+v", maxID+1, r)
	}
	if r := put("a", strings.Repeat("p", maxID), 0, 1, nil); r != (receipt{}) {
		t.Errorf("a name of %d bytes: %+v", maxID, r)
	}
	for n := range maxDone + 10 {
		put("a", fmt.Sprint(n), 0, 1, nil)
	}
	if len(d.done) > maxDone {
		t.Errorf("%d receipts are remembered", len(d.done))
	}
}

// A server of a coordinator's own ends a connection with a longer message than it takes.
func TestLongMessage(t *testing.T) {
	t.Parallel()
	h := hub(t, HubOptions{})
	c, err := h.server.InProcessConn()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	go func() {
		_, _ = fmt.Fprintf(c, "CONNECT {\"user\":\"a\",\"pass\":%q}\r\nPUB tare.from.a.result %d\r\n", h.issuePassword("a"), maxMessage+1)
		_, _ = c.Write(bytes.Repeat([]byte("x"), maxPart))
	}()
	if said, _ := io.ReadAll(c); !bytes.Contains(said, []byte("Maximum Payload Violation")) {
		t.Errorf("the server: %q", said)
	}
}

// However many names say hello, a bounded number is known: those heard of last.
func TestManyAgents(t *testing.T) {
	h := hub(t, HubOptions{})
	hello := func(name, protocol string) {
		text, err := json.Marshal(Hello{Protocol: protocol, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		h.recordHello(name, text)
	}
	for i := range maxAgents + 50 {
		hello(fmt.Sprint("new-", i), Protocol)
		hello("steady", Protocol)
		hello(fmt.Sprint("old-", i), "tare.agent/1")
	}
	if len(h.agents) > maxAgents {
		t.Errorf("%d agents are known", len(h.agents))
	}
	if silent, err := h.silentFor("steady"); err != nil || silent > time.Minute {
		t.Errorf("the steady one: %v, %v", silent, err)
	}
}

// A handler that panics ends the message: the peer gets a refusal, the log a line with
// the place, and the next message is handled.
func TestPanicEndsAMessage(t *testing.T) {
	t.Parallel()
	lines := make(chan string, 10)
	h := hub(t, HubOptions{Log: func(line string) { lines <- line }})
	broken := true
	defer h.addListener("r", listener{permit: func(_ string, q permitRequest) permitReply {
		if broken {
			broken = false
			_ = []int{}[q.Done+3]
		}
		return permitReply{Round: 7}
	}})()
	a := &Agent{Log: func(line string) { lines <- line }, Study: func(context.Context, StudyOrder, Task) ([]byte, error) { panic("no such study") }}
	piped(t, h, a, "a")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, want := range []permitReply{{Gone: "it is a bug of tare"}, {Round: 7}} {
		var got permitReply
		if err := request(ctx, a.nc, a.times, a.subjects.fromAgent(fromPermit), permitRequest{"r.1.1", 0}, &got); err != nil || !strings.Contains(got.Gone, want.Gone) || got.Round != want.Round {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if err := h.sendOrder(ctx, "a", Order{Protocol: Protocol, ID: "r.1.1", Study: &StudyOrder{Command: "run", ID: "s", Text: study, Most: 1, Seed: 5}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"index out of range [3] with length 0 (bounds_test.go:", "failed: it is a bug of tare: no such study (bounds_test.go:"} {
		for line := ""; !strings.Contains(line, want); {
			select {
			case line = <-lines:
			case <-ctx.Done():
				t.Fatalf("no line has %q", want)
			}
		}
	}
	h.sendCancel("a", "r.1.1")
}
