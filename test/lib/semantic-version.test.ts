import { newestVersion } from '../../src/lib/semantic-version.js'
import t from '../helpers/tap.js'

t.test('newestVersion finds the highest semantic version', async t => {
  const cases: [names: string[], newest: string | undefined][] = [
    [['1.9.0', '1.10.0', '1.2.30'], '1.10.0'],
    [['v2.0.0', '1.99.99'], 'v2.0.0'],
    [['1.0.0', '2.0.0-rc.1', '1.0.1+build.5'], '1.0.1+build.5'],
    [['10', '9.9', 'release', '01.2.3', '3.2.1.0', '0.0.1'], '0.0.1'],
    [['2.0.0-beta', 'latest'], undefined],
    [[], undefined]
  ]
  for (const [names, newest] of cases) {
    t.equal(newestVersion(names), newest, names.join(' '))
    t.equal(newestVersion([...names].reverse()), newest)
  }
})
