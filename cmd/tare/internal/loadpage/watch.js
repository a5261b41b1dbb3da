
'use strict';
(() => {
  const main = document.getElementById('main');
  const status = document.getElementById('status');
  const events = new EventSource('/events');
  events.onmessage = (e) => { main.innerHTML = e.data; status.textContent = ''; };
  events.addEventListener('over', () => { events.close(); status.textContent = 'It is over: this is the last state.'; });
  events.onerror = () => { status.textContent = 'The load generator does not answer: this is the last state.'; };
})();
