import { readDuration } from '../../src/cli/input/duration.js'
import { parseDuration } from '../../src/lib/duration.js'
import t from '../helpers/tap.js'

t.test('parses durations', async t => {
  const day = 86400
  const cases: Record<string, number | undefined> = {
    '3 mins 4 sec': 184,
    '2h20min': 8400,
    '6 mos 1 day': 181 * day,
    '47 yrs 6 mos and 4d': 47 * 365.25 * day + 184 * day,
    '3 weeks and 2 days': 23 * day,
    '1.5 hours': 5400,
    '1 hour, 2 minutes': 3720,
    '42': 42,
    ' 1 Week ': 7 * day,
    '0': 0,
    '': undefined,
    soon: undefined,
    '-1 day': undefined,
    '3 days 4': undefined,
    '3 dayz': undefined,
    'and 3 days or so': undefined,
    '999999999999 years': undefined,
    [`${'1 s '.repeat(100)}`]: undefined
  }
  for (const [text, seconds] of Object.entries(cases)) t.equal(parseDuration(text), seconds, text)
})

t.test('the duration of a flag needs a unit and must not be zero', async t => {
  t.equal(readDuration('--ends-in', '2h'), 7200)
  t.equal(readDuration('--expires-in', '90d'), 90 * 86400)
  t.equal(readDuration('--expires-in', '30m'), 1800)
  for (const text of ['', '90', '0', '0s', '0.1s', '-2h', 'soon', '9999999999y']) {
    t.throws(() => readDuration('--ends-in', text), {
      message: /^--ends-in must be a duration such as 30m, 2h or 90d \(it is "/
    })
  }
})
