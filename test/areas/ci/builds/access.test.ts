import { testAccess } from '../../../access/matrix.js'
import { access as builds } from './builds.access.js'
import { fillWithBuild } from './make-builds.js'

testAccess([builds], fillWithBuild)
