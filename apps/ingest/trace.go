package ingest

import "strings"

// storedTrace returns the traceparent to store with the events of a request, or "" if the service
// stores none or if the request has no valid one.
func (s *Service) storedTrace(h Head) string {
	if !s.traced || !isTraceparent(h.Traceparent) {
		return ""
	}
	return h.Traceparent
}

// isTraceparent reports whether s is a traceparent as W3C Trace Context, section
// 3.2, defines it for version 00: version, trace id, parent id and flags in
// lower-case hexadecimal. Neither id may consist of zeros.
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
