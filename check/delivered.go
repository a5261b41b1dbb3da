package check

import (
	"fmt"

	"github.com/tarebench/tare"
)

// receiptOff is how far what arrived may be from what was sent.
const receiptOff = 0.01

func delivered() Check {
	return Check{
		ID:       "delivered",
		Severity: tare.Void,
		Summary: "What the server says it answered must be what the load generator sent, lead-ins included. A contender is void on a workload where the two are more than 1 % apart " + byRounds + ". " +
			"It does not apply to servers that cannot tell.",
		Why: "Services answered 200 to events they had dropped or never parsed, and were published as the fastest. " +
			"A load generator sees only the answer; whether anything arrived, the other end has to say.",
		Advice: "look at what answers in the server's place (a proxy, a cache, a middleware that returns early), or at requests that were sent twice",
		Run: func(in Input) []tare.Finding {
			return in.receipts(tare.KeyReceived, tare.KeyReceivedSent, "the server counted %s requests where %s were sent")
		},
	}
}

// receipts finds where what the server counted under got is not what was sent.
// said is given both, per round.
func (in Input) receipts(got, sent, said string) []tare.Finding {
	if !in.Final {
		return nil
	}
	var out []tare.Finding
	for _, w := range in.Study.Workloads {
		for _, c := range in.weighed() {
			e, ok := over(in.perRound(c.ID, w.ID, ratio([]string{got}, []string{sent})))
			if !ok || !e.off(receiptOff) {
				continue
			}
			asked, _ := over(in.perRound(c.ID, w.ID, key(sent)))
			out = append(out, tare.Finding{
				Contender: c.ID, Workload: w.ID,
				Message: fmt.Sprintf(said, number(e.mid*asked.mid), number(asked.mid)) + fmt.Sprintf(" (%.3g×, %.3g to %.3g, %s)", e.mid, e.lo, e.hi, plural(e.rounds, "round")),
			})
		}
	}
	return out
}
