import { testAccess } from '../../../access/matrix.js'
import { factory } from '../../../helpers/factory.js'
import { fillWithBuild } from '../../ci/builds/make-builds.js'
import { access as repository } from './repository.access.js'

testAccess([repository], async project => {
  await fillWithBuild(project)
  await factory.branch(project, 'open')
})
