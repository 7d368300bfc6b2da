import { testAccess } from '../../../access/matrix.js'
import { fillWithBuild } from '../../ci/builds/make-builds.js'
import { access as history } from './history.access.js'

testAccess([history], fillWithBuild)
