// Package shop takes orders. tare's documentation measures it as an example of a usual module: it has a
// type, documents, routes, a server and benchmarks.
package shop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Order is one order of a customer. Prices are in cents.
type Order struct {
	ID       int64             `json:"id"`
	Customer Customer          `json:"customer"`
	Items    []Item            `json:"items"`
	Placed   time.Time         `json:"placed"`
	Paid     bool              `json:"paid"`
	Note     string            `json:"note,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
}

// Customer is the person who ordered.
type Customer struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// Item is a line of an order.
type Item struct {
	SKU      string  `json:"sku"`
	Quantity int     `json:"quantity"`
	Price    int64   `json:"price"`
	Weight   float64 `json:"weight_kg"`
}

// Total returns the sum of all items, in cents.
func (o *Order) Total() (cents int64) {
	for _, i := range o.Items {
		cents += int64(i.Quantity) * i.Price
	}
	return cents
}

// Parse parses orders in JSON, one per line. It skips empty lines.
func Parse(lines []byte) ([]Order, error) {
	var orders []Order
	for n := 1; len(lines) > 0; n++ {
		var line []byte
		line, lines, _ = bytes.Cut(lines, []byte("\n"))
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var o Order
		if err := json.Unmarshal(line, &o); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		orders = append(orders, o)
	}
	return orders, nil
}
