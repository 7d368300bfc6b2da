import { testAccess } from '../../../access/matrix.js'
import { access as deployKeys } from './deploy-keys.access.js'

testAccess([deployKeys])
