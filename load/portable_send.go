package load

// minAsync is the size in bytes from which output is sent by a separate goroutine while the response is read: the
// server may respond before it has read everything, or stop reading until its response is read.
const minAsync = 32 << 10

// flushOutput sends the framer's output, unless pourOutput already does so.
func (c *socket) flushOutput() {
	for {
		c.out.Lock()
		if c.pouring != nil || c.sendError != nil {
			c.out.Unlock()
			return
		}
		b := c.framer.takeOutput()
		if len(b) >= minAsync {
			c.pouring = make(chan struct{})
			go c.pourOutput(b, c.pouring)
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

// pourOutput sends b and then the framer's further output. It closes over at the end.
func (c *socket) pourOutput(b []byte, over chan struct{}) {
	defer close(over)
	for {
		n, err := c.conn.Write(b)
		c.out.Lock()
		c.sent += n
		if c.sendError = err; err == nil {
			b = c.framer.takeOutput()
		}
		if err != nil || len(b) == 0 {
			c.pouring = nil
			c.out.Unlock()
			return
		}
		c.out.Unlock()
	}
}

// feedFramer passes b to the framer.
func (c *socket) feedFramer(b []byte) (response, error) {
	c.out.Lock()
	defer c.out.Unlock()
	err := c.framer.feed(b)
	return c.framer.currentResponse(), err
}

// finishSending stops sending the request of a finished exchange, and assigns the byte counts to it. It
// returns the error of sending.
func (c *socket) finishSending(x *exchange) (response, error) {
	c.out.Lock()
	err, over := c.sendError, c.pouring
	c.out.Unlock()
	if over != nil { // the request is not sent completely
		c.interrupt()
		<-over
	}
	a := c.framer.currentResponse()
	a.unsent = a.unsent || over != nil
	x.bytesOut, x.bytesIn = x.bytesOut+c.sent, x.bytesIn+c.received
	c.sent, c.received = 0, 0
	return a, err
}
