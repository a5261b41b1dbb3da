// Package ingest is the business logic of a service that accepts batches of events and stores them.
//
//	POST /             application/json, application/x-protobuf or application/x-gob: an array of records
//	                   200  application/json  {"accepted":10,"bytes":6420}
//	GET  /health       200  text/plain        ok and a line end
//	GET  /metrics      200  text/plain        counters as Prometheus reads them
//	GET  /openapi.json 200  application/json  this API as an OpenAPI document
//
// A record is {id, timestamp, metadata}. The timestamp is a number of seconds since 1970 or a text of RFC
// 3339. Metadata is any object, stored without white space between its members. Config.Typed instead decodes
// the 17 fields of [Metadata]; other members are lost.
//
// A batch has 1 to Config.Limit records. Each goes to a sink as one line of JSON. The response has the number
// of stored records and the bytes of their metadata, so that the client can check the work. For errors see
// [Refusal].
//
// Other members of a record are ignored. Usually the last one of a repeated member counts. Bodies in protobuf
// and gob have the 17 fields.
//
// The package does not import net/http. A stack (a framework with its code) calls [Service.Admit] with the
// head of a request. It reads the body through [Service.Body] or [Service.Unpack], decodes it, and passes the
// records to [Service.Accept]. Body and Unpack count the records first, about 0.25 µs for ten. So no stack
// decodes too many.
package ingest

// Name is the name of the app, in studies and on command lines.
const Name = "ingest"

// Record is one event whose metadata is decoded.
type Record struct {
	ID        string   `json:"id"`
	Timestamp Time     `json:"timestamp"`
	Metadata  Metadata `json:"metadata"`
}

// Metadata reports a user's profile, with the members of the service's published example.
type Metadata struct {
	Index      int     `json:"index"`
	GUID       string  `json:"guid"`
	IsActive   bool    `json:"isActive"`
	Balance    string  `json:"balance"`
	Picture    string  `json:"picture"`
	Age        int     `json:"age"`
	EyeColor   string  `json:"eyeColor"`
	Name       string  `json:"name"`
	Gender     string  `json:"gender"`
	Company    string  `json:"company"`
	Email      string  `json:"email"`
	Phone      string  `json:"phone"`
	Address    string  `json:"address"`
	About      string  `json:"about"`
	Registered string  `json:"registered"`
	Latitude   float64 `json:"latitude"`
	Longitude  float64 `json:"longitude"`
}

// Receipt is the response to an accepted batch.
type Receipt struct {
	Accepted int   `json:"accepted"` // number of records
	Bytes    int64 `json:"bytes"`    // bytes of the encoded metadata of all records
}
