// Command shop serves orders from a file of lines.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"

	"example.com/shop"
)

func main() {
	port := flag.String("port", "8080", "port on loopback")
	file := flag.String("orders", "orders.ndjson", "file of orders, one per line")
	flag.Parse()
	lines, err := os.ReadFile(*file)
	if err != nil {
		log.Fatal(err)
	}
	orders, err := shop.Parse(lines)
	if err != nil {
		log.Fatalf("%s: %v", *file, err)
	}
	log.Fatal(http.ListenAndServe(net.JoinHostPort("127.0.0.1", *port), routes(orders)))
}

func routes(orders []shop.Order) http.Handler {
	byID := map[int64]*shop.Order{}
	for i := range orders {
		byID[orders[i].ID] = &orders[i]
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, map[string]bool{"ok": true}) })
	mux.HandleFunc("GET /orders", func(w http.ResponseWriter, _ *http.Request) { answer(w, orders) })
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if o := byID[id]; err == nil && o != nil {
			answer(w, o)
			return
		}
		http.Error(w, `{"error":"no such order"}`, http.StatusNotFound)
	})
	return mux
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		log.Print(err)
	}
}
