// The parts of a hook's URL that each reader may see.
import { shownUrl, withoutPassword } from '../../src/webhooks/url.js'
import t from '../helpers/tap.js'

const CASES: [url: string, record: string, shown: string][] = [
  ['https://h.example.org/in', 'https://h.example.org/in', 'https://h.example.org/in'],
  ['https://h/in?token=a1b2', 'https://h/in?token=a1b2', 'https://h/in?token=redacted'],
  ['https://h/?a=1&b=2=3&c=', 'https://h/?a=1&b=2=3&c=', 'https://h/?a=redacted&b=redacted&c='],
  ['https://h/?a1b2', 'https://h/?a1b2', 'https://h/?redacted'],
  ['https://h/?a=x?y#part?z=1', 'https://h/?a=x?y#part?z=1', 'https://h/?a=redacted#redacted'],
  ['https://ada:pw@h/?token=x', 'https://ada:redacted@h/?token=x', 'https://ada:redacted@h/?token=redacted'],
  ['http://[::1', 'http://[::1', 'http://[::1']
]

t.test('the record of a hook hides the password, everything else the values of the query as well', async t => {
  for (const [url, record, shown] of CASES) {
    t.equal(withoutPassword(url), record)
    t.equal(shownUrl(url), shown)
  }
})
