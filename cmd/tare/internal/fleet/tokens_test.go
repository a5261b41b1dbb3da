package fleet

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A token is of one name, and a name of one agent: who joins with another's token, or
// under a name that is taken, gets no order.
func TestTokenOfAName(t *testing.T) {
	t.Parallel()
	secrets, err := ReadSecrets(t.TempDir())
	for _, name := range []string{"rack-7", "rack-8"} {
		err = errors.Join(err, secrets.MakeToken(name))
	}
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	log := map[string]int{}
	h := hub(t, HubOptions{Listen: "127.0.0.1:0", Cert: secrets.Cert, Token: secrets.Token, Log: func(line string) {
		mu.Lock()
		defer mu.Unlock()
		if _, why, refused := strings.Cut(line, ": "); refused {
			line = why
		}
		log[line]++
	}})
	joins := func(name, token string) (orders *atomic.Int64, a *Agent, stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		orders = new(atomic.Int64)
		a = &Agent{Prefix: DefaultPrefix, times: shortTimes(), Hello: Hello{Name: name}, Study: func(context.Context, StudyOrder, Task) ([]byte, error) {
			orders.Add(1)
			return nil, errors.New("it measures nothing")
		}}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = a.ServeJoined(ctx, Join{Addr: h.Addr(), Fingerprint: secrets.Fingerprint, Token: token})
		}()
		stop = sync.OnceFunc(func() { cancel(); <-done })
		t.Cleanup(stop)
		return orders, a, stop
	}
	seen := func(line string, n int) {
		t.Helper()
		until(t, func() bool { mu.Lock(); defer mu.Unlock(); return log[line] >= n })
	}
	order := func(id string) {
		t.Helper()
		if err := h.sendOrder(t.Context(), "rack-8", Order{Protocol: Protocol, ID: id, Study: &StudyOrder{Command: "run", ID: "s", Text: study, Most: 1, Seed: 5}}); err != nil {
			t.Fatal(err)
		}
	}
	defer h.addListener("run", listener{result: func(string, outcome) error { return nil }})()
	mallory, _, stop := joins("rack-8", secrets.Token("rack-7"))
	seen("its token is not the one of that name", 2)
	stop()
	first, agent, stopFirst := joins("rack-8", secrets.Token("rack-8"))
	if err := h.Await(t.Context(), "rack-8"); err != nil {
		t.Fatal(err)
	}
	refused, _, stopRefused := joins("rack-8", secrets.Token("rack-8"))
	seen("another agent of that name is connected", 3)
	stopRefused() // between two connections of the first it could take the name
	order("1")
	until(t, func() bool { return first.Load() == 1 })
	agent.mu.Lock()
	conn := agent.nc
	agent.mu.Unlock()
	if err := conn.ForceReconnect(); err != nil {
		t.Fatal(err)
	}
	seen("rack-8 joined", 2)
	order("2")
	until(t, func() bool { return first.Load() == 2 })
	if n := mallory.Load() + refused.Load(); n != 0 {
		t.Errorf("agents that were refused got %d orders", n)
	}
	mu.Lock()
	before := log["another agent of that name is connected"]
	mu.Unlock()
	second, _, _ := joins("rack-8", secrets.Token("rack-8"))
	seen("another agent of that name is connected", before+1)
	stopFirst()
	seen("rack-8 joined", 3)
	order("3")
	until(t, func() bool { return second.Load() == 1 })
}
