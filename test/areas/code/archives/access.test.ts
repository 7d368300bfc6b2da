import { testAccess } from '../../../access/matrix.js'
import { fillWithBuild } from '../../ci/builds/make-builds.js'
import { access as archives } from './archives.access.js'

testAccess([archives], fillWithBuild)
