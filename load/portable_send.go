package load

// The methods of socket below send the output of its framer, which implements the protocol.

// minAsync is the size in bytes from which a separate goroutine sends the output. The server may respond
// early, or may not read on until its response is read.
const minAsync = 32 << 10

// flushOutput sends the framer's output, unless sendAsync already does so. It starts sendAsync for much
// output.
func (c *socket) flushOutput() {
	for {
		c.out.Lock()
		if c.sending != nil || c.sendError != nil {
			c.out.Unlock()
			return
		}
		b := c.framer.takeOutput()
		if len(b) >= minAsync {
			c.sending = make(chan struct{})
			go c.sendAsync(b, c.sending)
			b = nil
		}
		c.out.Unlock()
		if len(b) == 0 {
			return
		}
		var n int
		n, c.sendError = c.conn.Write(b)
		c.sent += n
	}
}

// sendAsync sends b and then the framer's further output. It closes done at the end.
func (c *socket) sendAsync(b []byte, done chan struct{}) {
	defer close(done)
	for {
		n, err := c.conn.Write(b)
		c.out.Lock()
		c.sent += n
		if c.sendError = err; err == nil {
			b = c.framer.takeOutput()
		}
		if err != nil || len(b) == 0 {
			c.sending = nil
			c.out.Unlock()
			return
		}
		c.out.Unlock()
	}
}

func (c *socket) feedFramer(b []byte) (response, error) {
	c.out.Lock()
	defer c.out.Unlock()
	err := c.framer.feed(b)
	return c.framer.currentResponse(), err
}

// finishSending stops sending the request of a finished exchange, and counts its bytes. It returns the
// response and the error of sending.
func (c *socket) finishSending(x *exchange) (response, error) {
	c.out.Lock()
	err, sending := c.sendError, c.sending
	c.out.Unlock()
	if sending != nil { // the request is not sent completely
		c.interrupt()
		<-sending
	}
	a := c.framer.currentResponse()
	a.unsent = a.unsent || sending != nil
	x.bytesOut, x.bytesIn = x.bytesOut+c.sent, x.bytesIn+c.received
	c.sent, c.received = 0, 0
	return a, err
}
