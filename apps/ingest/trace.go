package ingest

// traceOf returns the traceparent to store with events of a request: "" if the service stores none
// or if it is invalid.
func (s *Service) traceOf(h Head) string {
	if !s.traced || !isTraceparent(h.Traceparent) {
		return ""
	}
	return h.Traceparent
}

// isTraceparent reports whether s is a traceparent as W3C Trace Context, section
// 3.2, defines it for version 00: version, trace id, parent id and flags in
// lower-case hexadecimal, and neither id only zeros.
func isTraceparent(s string) bool {
	const form = "00-hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh-hhhhhhhhhhhhhhhh-hh"
	if len(s) != len(form) {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case form[i] != 'h' && c != form[i]:
			return false
		case form[i] == 'h' && (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	const noTrace, noParent = "00000000000000000000000000000000", "0000000000000000"
	return s[3:35] != noTrace && s[36:52] != noParent
}
