package ingest

import "strings"

func (s *Service) storedTrace(h Head) string {
	if !s.traced || !isTraceparent(h.Traceparent) {
		return ""
	}
	return h.Traceparent
}

// isTraceparent checks version 00 of W3C Trace Context, section 3.2: version, trace id, parent id and flags in
// lower-case hexadecimal. No id may be zeros.
func isTraceparent(s string) bool {
	const form = "00-hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh-hhhhhhhhhhhhhhhh-hh" // h is a hexadecimal digit
	if len(s) != len(form) {
		return false
	}
	for i := range len(s) {
		isRight := s[i] == form[i]
		if form[i] == 'h' {
			isRight = strings.IndexByte("0123456789abcdef", s[i]) >= 0
		}
		if !isRight {
			return false
		}
	}
	const noTrace, noParent = "00000000000000000000000000000000", "0000000000000000"
	return s[3:35] != noTrace && s[36:52] != noParent
}
