import { newestRelease } from '../../../../../src/areas/ci/pipelines/planning/include-files.js'
import t from '../../../../helpers/tap.js'

t.test('newestRelease finds the highest semantic version among tags', async t => {
  const cases: [names: string[], newest: string | null][] = [
    [['1.9.0', '1.10.0', '1.2.30'], '1.10.0'],
    [['v2.0.0', '1.99.99'], 'v2.0.0'],
    [['1.0.0', '2.0.0-rc.1', '1.0.1+build.5'], '1.0.1+build.5'],
    [['10', '9.9', 'release', '01.2.3', '3.2.1.0', '0.0.1'], '0.0.1'],
    [['2.0.0-beta', 'latest'], null],
    [[], null]
  ]
  for (const [names, newest] of cases) {
    t.equal(newestRelease(names), newest, names.join(' '))
    t.equal(newestRelease([...names].reverse()), newest)
  }
})
