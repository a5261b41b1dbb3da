package check

import "github.com/tarebench/tare"

// This check finds servers that do not read the bodies of requests. For example, an upload server
// answers before it has read the file.

func bodyConsumed() Check {
	return Check{
		ID:       "body-consumed",
		Severity: tare.Void,
		Summary: "The bytes of request bodies that the server reports as read must be those that were sent, lead-ins included. A contender is void on a workload where the two differ by more than 1 % " + byRounds + ". " +
			"It does not apply to requests without a body, nor to servers that do not report what they read.",
		Why: "An upload server that answers before it has read the body is very fast: the bytes stay in the kernel's buffers or are thrown away with the connection. " +
			"Such a comparison shows only how soon each server sent OK.",
		Advice:             "have the handler read the complete body, and account for what it read",
		adviceIsForAuthors: true,
		voidReasons: func(in Input, contender string) []voidReason {
			return in.receiptReasons(contender, tare.KeyReceivedBody, tare.KeySentBody)
		},
		Run: func(in Input) []tare.Finding {
			return in.findReceiptGaps(tare.KeyReceivedBody, tare.KeySentBody, "the server read %s bytes of request bodies where %s were sent")
		},
	}
}
